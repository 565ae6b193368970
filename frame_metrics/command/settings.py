"""Settings: options from a TOML file, for which no flag is given."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from frame_metrics.command.commands import COMMANDS, options_of
from frame_metrics.command.offers.other_options import RETIRED
from frame_metrics.command.options import Option
from frame_metrics.errors import BadValueError, FrameMetricsError, UnknownNameError, closest, quote
from frame_metrics.metrics.parameters import is_number

PROJECT = "pyproject.toml"
SEVERAL = {"metrics": "metric", "inputs": "input"}  # other names, of what is mostly several
OF_FALSE = ("positive",)  # roles and conventions of which false is a value


def settings(config: str | None, command: str) -> dict[str, Any]:
    """Return the options that a file has for a command; the command's own table overrides options for all commands.

    Parameters
    ----------
    config : a TOML file; None for the table ``tool.frame_metrics`` of ./pyproject.toml, if there is one.

    Raises
    ------
    FrameMetricsError
        The file does not exist or is not TOML, or an option does not exist or has an invalid value.
    """
    where, options = _read_settings(config)
    tables = {name: options.pop(name) for name in COMMANDS if isinstance(options.get(name), dict)}
    for name, table in tables.items():
        _check(table, options_of(name), f"{where}, table {name!r}")
    if options:
        _check(options, [option for name in COMMANDS for option in options_of(name)], where)
    known = options_of(command)
    named = {_plain(key): value for key, value in {**options, **tables.get(command, {})}.items()}
    return {name: _value(known[name], value, where) for name, value in named.items() if name in known}


def _plain(key: str) -> str:
    """Return the name of the option that a key of the file means."""
    name = key.replace("-", "_")
    return SEVERAL.get(name, name)


def _read_settings(config: str | None) -> tuple[str, dict[str, Any]]:
    """Return a name for the place of the settings, for errors, and the settings."""
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
        return f"{name}, [tool.frame_metrics]", dict(whole.get("tool", {}).get("frame_metrics", {}))
    return name, whole


def _check(options: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    """Raise for a key that is not an option."""
    known = {*known}
    for key in options:
        if _plain(key) not in known:
            if isinstance(options[key], dict) and (near := closest(key, COMMANDS)):
                raise UnknownNameError(f"{where}: there is no command {key!r}{near}")
            hint = f"; {RETIRED[_plain(key)].text}" if _plain(key) in RETIRED else closest(_plain(key), sorted(known))
            raise UnknownNameError(f"{where}: there is no option {key!r}{hint}")


def _expected(option: Option, given: Any) -> str:
    """Return in words the kind of value that an option needs, if the given one is of another kind; else "".

    The systems of ``baseline`` may be numbers.
    """
    kind = option.kind
    if kind.switch:
        return "" if isinstance(given, bool) else "true or false"
    each = given if isinstance(given, list) and kind.many else [given]
    if kind.texts and not all(isinstance(one, str) or (option.name == "baseline" and is_number(one)) for one in each):
        return "a text, or a list of texts" if kind.many else "a text"
    return "one value" if isinstance(given, list) and not kind.many else ""


def _value(option: Option, given: Any, where: str) -> Any:
    """Return the value of an option in a file; false sets a role or convention aside, as the flag with --no- does."""
    if given is False and option.kind.settable and not option.kind.switch and option.name not in OF_FALSE:
        return None
    if expected := _expected(option, given):
        raise BadValueError(f"{where}: {option.name} = {quote(given)} is not {expected}")
    return option.value(given, where)
