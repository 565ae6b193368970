"""All that is public, as text: names with their signatures, roles, pictures, metrics, flags of the command line."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterator
from typing import Any

import frame_metrics
from frame_metrics import IRM, metrics, plot, testing
from frame_metrics.command.commands import COMMANDS, fill
from frame_metrics.metrics.metric import REGISTRY
from frame_metrics.plot.of_irm import Drawing, Pictures
from frame_metrics.roles.roles import Roles


def signatures() -> str:
    """Return a line for each name that is public, with its parameters; a blank line stands between the parts."""
    drawings = [name for name, one in vars(Pictures).items() if isinstance(one, Drawing)]
    empty = IRM(frame_metrics.list_metrics().clear())
    parts = [
        [line for name in frame_metrics.__all__ for line in _lines(name, getattr(frame_metrics, name))],
        [f"{name}: {kind}" for name, kind in Roles.__annotations__.items()],
        [_line(f"IRM.plot.{name}", getattr(empty.plot, name)) for name in drawings],
        [_line(f"plot.{name}", getattr(plot, name)) for name in plot.__all__],
        [line for name in testing.__all__ for line in _lines(f"testing.{name}", getattr(testing, name))],
        [_metric(name) for name in sorted({*REGISTRY} & {*dir(metrics)})],
        [*_flags()],
    ]
    return "\n\n".join("\n".join(map(" ".join, map(str.split, part))) for part in parts) + "\n"


def _lines(name: str, value: Any) -> Iterator[str]:
    """Yield the line of a function, or those of a class and its public methods and properties."""
    if not inspect.isclass(value):
        yield _line(name, value) if callable(value) else name
        return
    yield f"class {name}({', '.join(base.__name__ for base in value.__bases__)})"
    for own, one in sorted(vars(value).items()):
        if own in ("__init__", "__call__") or not own.startswith("_"):
            yield _line(f"{name}.{own}", one) if inspect.isfunction(one) else f"{name}.{own}"


def _line(name: str, function: Any) -> str:
    told: list[str] = []
    for one in inspect.signature(function).parameters.values():
        if one.name != "self":
            told += ["*"] * (one.kind is one.KEYWORD_ONLY and not any(part.startswith("*") for part in told))
            told.append(_parameter(one))
    return f"{name}({', '.join(told)})"


def _parameter(one: inspect.Parameter) -> str:
    kind = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
    typed = f": {one.annotation}" if isinstance(one.annotation, str) else ""
    default = "" if one.default in (one.empty, ...) else f" = {one.default!r}"
    return f"{kind}{one.name}{typed}{default}"


def _metric(name: str) -> str:
    """Return the line of a metric: its parameters, its range, its best value and what an undefined one counts as."""
    metric = REGISTRY[name]
    best = f"{metric.range}, best {metric.best}, undefined {metric.undefined}"
    return f"metrics.{_line(name, metric.kernel)}: {best}".replace("numpy.", "")


def _flags() -> Iterator[str]:
    """Yield a line for each flag, with the values that it takes and the commands that have it."""
    commands: dict[str, list[str]] = {}
    for name in COMMANDS:
        parser = argparse.ArgumentParser(add_help=False)
        fill(parser, name)
        for one in parser._actions:
            if one.option_strings:
                commands.setdefault(f"{' '.join(one.option_strings)} {_values(one)}".strip(), []).append(name)
    yield from (f"{flag}: {', '.join(names)}" for flag, names in commands.items())


def _values(one: argparse.Action) -> str:
    if one.choices:
        return f"{{{','.join(map(str, one.choices))}}}"
    return "" if one.nargs == 0 else str(one.metavar or "VALUE")
