"""Settings: options that a file says, where no flag does."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from frame_metrics.command.options import Option
from frame_metrics.errors import BadValueError, FrameMetricsError, UnknownNameError, closest, shown
from frame_metrics.roles.resolve import FOUND

PROJECT = "pyproject.toml"


def settings(
    config: str | None, command: str, commands: Iterable[str], known: Mapping[str, set[str]]
) -> dict[str, Any]:
    """Return what a file says for a command: its own table goes before what is said for all.

    Parameters
    ----------
    config : a TOML file; None for the table ``tool.frame_metrics`` of ./pyproject.toml, if there is one.
    known : the names of the options of each command.
    """
    where, said = _said(config)
    every = {name for names in known.values() for name in names}
    own: dict[str, Any] = {}
    for key, value in said.items():
        name = key.replace("-", "_")
        if key in commands and isinstance(value, dict):
            inner = {one.replace("-", "_"): given for one, given in value.items()}
            _check(inner, known[key], f"{where}, table {key!r}")
            own |= inner if key == command else {}
        else:
            _check({name: value}, every | set(commands), where)
    common = {key.replace("-", "_"): value for key, value in said.items() if key not in commands}
    return {name: value for name, value in common.items() if name in known[command]} | own


def _said(config: str | None) -> tuple[str, dict[str, Any]]:
    if config is None and not os.path.isfile(PROJECT):
        return "", {}
    name = config or PROJECT
    try:
        with open(name, "rb") as file:
            whole = tomllib.load(file)
    except FileNotFoundError:
        raise FrameMetricsError(f"--config: there is no file {name!r}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FrameMetricsError(f"{name}: {error}") from None
    if config is None or os.path.basename(name) == PROJECT:
        name, whole = f"{name}, [tool.frame_metrics]", whole.get("tool", {}).get("frame_metrics", {})
    return name, whole


def _check(said: Mapping[str, Any], known: set[str], where: str) -> None:
    """Raise for a key that is no option."""
    for name in said:
        if name not in known:
            raise UnknownNameError(f"{where}: there is no option {name!r}{closest(name, sorted(known))}")


def read_as(option: Option, given: Any, where: str) -> Any:
    """Return the value of an option as a settings file says it; false takes a role back that was found by name."""
    if given is False and option.name in FOUND:
        return None
    if option.switch != isinstance(given, bool) and option.switch:
        raise BadValueError(f"{where}: {option.name} = {shown(given)} is not true or false")
    if option.choices is not None and given not in option.choices:
        raise UnknownNameError(f"{where}: {option.name} = {shown(given)} is not one of {list(option.choices)}")
    return option.value(given)
