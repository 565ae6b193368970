"""Errors, in the caller's words."""

from __future__ import annotations

import math
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from numbers import Integral, Rational, Real
from typing import Any, Self
from unicodedata import normalize

PLAIN = ("builtins", "collections", "datetime", "decimal", "fractions", "uuid")  # modules whose values are shown
MIN_LIKENESS = 0.62  # how alike a misspelt name has to be, from 0 to 1
INT64 = 2**63 - 1  # the largest of polars' usual integers
MOST_LETTERS = 200  # letters of a value that are shown
LISTED = 600  # letters of a list of names that are shown
LONGEST = 1000  # letters of a message
LAST = 360  # of these the last ones, which say the way out
# The packages of the extras that errors name, as pyproject.toml lists them.
PACKAGES = {
    "completion": "shtab",
    "plot": "altair vl-convert-python",
    "report": "jinja2 altair vl-convert-python",
    "stats": "scipy",
}
TEXTS = ("String", "Categorical", "Enum")  # types of polars that hold text
SINGULAR = {"are": "is", "do": "does", "have": "has", "repeat": "repeats", "differ": "differs", "their": "its"}


class FrameMetricsError(ValueError):
    """Any error that frame_metrics raises on purpose. Its message has at most 1,000 characters."""

    # whether it is not about the data, but the call or the place: audit() raises it, and does not list it
    of_call = True
    # The way out: what the call may pass as well, by name, None to set it aside, and ... for a value that is not known;
    # and what else may stand for a word of the call, nothing to leave it out, and several of which one is meant.
    options: Mapping[str, Any] = {}
    instead: Mapping[str, Sequence[str]] = {}

    def __init__(self, *texts: Any) -> None:
        super().__init__(*(brief(one) if isinstance(one, str) else one for one in texts))

    def offering(self, instead: Mapping[str, Sequence[str]] | None = None, /, **options: Any) -> Self:
        """Return the error with its way out, for programs that take it."""
        self.options, self.instead = options, instead or {}
        return self

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows of the error: the caller's lines and the message, none of this package."""
        from traceback import extract_tb, format_list

        house = os.path.dirname(__file__)
        calls = [call for call in extract_tb(self.__traceback__) if not call.filename.startswith(house)]
        own = [call for call in calls if "IPython" not in call.filename]
        return [*(line.rstrip() for line in format_list(own)), f"{type(self).__name__}: {self}"]


class UnknownNameError(FrameMetricsError):
    """A metric, parameter, option or role that does not exist."""


class UnknownVerbError(UnknownNameError, AttributeError):
    """A verb, or a picture, that does not exist; ``hasattr`` is false for it."""


class ColumnError(FrameMetricsError):
    """A required column is missing, or has an impossible role."""

    of_call = False


class ReportedError(Exception):
    """The part that errors about a whole column share, which are findings of audit(); each is of another kind too.

    Parameters
    ----------
    message : for whoever reads the error.
    check : the name of the finding.
    n : how many things it counts.
    """

    def __init__(self, message: str, *, check: str = "", n: int = 0) -> None:
        super().__init__(message)
        self.check, self.n = check, n


class MistakenColumnError(ReportedError, ColumnError):
    """A column that, by all of its values, is something else than its role says."""


class BadValueError(FrameMetricsError):
    """A value that cannot be counted honestly: in a column, or given to an option."""

    of_call = False


class StrangeIdsError(ReportedError, BadValueError):
    """Ids of a log, none of which is among those of the judgments."""


class BadRowsError(BadValueError):
    """Rows of a frame that have such a value.

    Parameters
    ----------
    message : for whoever reads the error.
    column : what the caller calls the column.
    rows : positions of all bad rows, from 0; none where rows have no numbers.
    n : how many there are; None for as many as ``rows``.
    what : what is wrong, following "3 of 120 rows ", as in "are infinite".
    remedy : the way out.
    where : the segment with most of them, as text; "" for none.
    kept : whether an audit counts these rows all the same, and does not leave them out.
    """

    def __init__(
        self,
        message: str,
        *,
        column: str = "",
        rows: Sequence[int] | Any = (),
        n: int | None = None,
        what: str = "",
        remedy: str = "",
        where: str = "",
        kept: bool = False,
    ) -> None:
        super().__init__(message)
        self.column, self.rows, self.what, self.remedy = column, rows, what, remedy
        self.where, self.kept = where, kept
        self.n = len(rows) if n is None else n


class NotComputableError(FrameMetricsError):
    """A metric, average or tie rule that the given data and conventions do not determine."""

    of_call = False


class KernelError(FrameMetricsError):
    """A function of the caller's, the kernel of a metric, a gain or a discount, that failed or gave what it may not."""


class BrokenLawError(FrameMetricsError, AssertionError):
    """A law that a metric breaks, found by ``frame_metrics.testing.check_metric``.

    Parameters
    ----------
    message : for whoever reads the error.
    law : the name of the law.
    example : the smallest case that was found, and what is wrong with its value.
    """

    def __init__(self, message: str, *, law: str = "", example: str = "") -> None:
        super().__init__(message)
        self.law, self.example = law, example


def nearest(given: Any, choices: Iterable[Any]) -> Any:
    """Return the choice that was most likely meant, by its spelling in any case; None where none is near."""
    from difflib import get_close_matches  # only an error needs it

    lower, by_lower = _lower(given), {_lower(choice): choice for choice in choices}
    if len(lower) > MOST_LETTERS:  # which would take long, and is no name that anybody writes
        return None
    by_lower = {name: choice for name, choice in by_lower.items() if len(name) <= MOST_LETTERS}
    # Letters that only changed places are the likeliest mistake.
    near = sorted(get_close_matches(lower, by_lower, cutoff=MIN_LIKENESS), key=lambda one: sorted(one) != sorted(lower))
    return by_lower[near[0]] if near else None


def _lower(value: Any) -> str:
    return (value if isinstance(value, str) else quote(value)).lower()


def closest(given: Any, choices: Iterable[Any]) -> str:
    """Return a hint that names the choice nearest to ``given``, or nothing."""
    near = nearest(given, choices)
    if isinstance(given, str) and isinstance(near, str) and given != near and _in_one_form(given) == _in_one_form(near):
        return f"; did you mean {near!a}, which prints alike?"
    return "" if near is None else did_you_mean(near)


def _in_one_form(text: str) -> str:
    return text if text.isascii() else normalize("NFC", text)


def did_you_mean(choice: Any) -> str:
    """Return the hint that names a choice."""
    return f"; did you mean {quote(choice)}{', including the spaces' * (str(choice) != str(choice).strip())}?"


def listed(items: Iterable[Any]) -> str:
    """Return the items in quotes, with commas; of many the first, and how many more there are."""
    texts, letters, every = list[str](), 0, list(items)
    for item in every:
        texts.append(cut(repr(item)))
        letters += len(texts[-1]) + len(", ")
        if letters > LISTED and len(texts) < len(every):
            return f"{', '.join(texts)} and {len(every) - len(texts)} more"
    return ", ".join(texts)


def class_name(value: Any) -> str:
    """Return the name of a value's class, after that of its library."""
    library, name = type(value).__module__.split(".")[0].lstrip("_"), type(value).__name__
    return name if library == "builtins" else f"{library}.{name}"


def quote(value: Any) -> str:
    """Return a value as errors show it: what is long is cut, and what is no plain value is told by its class."""
    kind = type(value)
    if kind in (list, tuple, dict):
        first = islice(value.items() if kind is dict else value, MOST_LETTERS)  # more could not be seen
        inside = ", ".join(": ".join(map(quote, one)) if kind is dict else quote(one) for one in first)
        if kind is tuple:
            return cut(f"({inside}{',' * (len(value) == 1)})")
        return cut(f"[{inside}]" if kind is list else f"{{{inside}}}")
    of_numpy = kind.__module__ == "numpy" and getattr(value, "shape", None) == ()  # one number or truth value
    if kind.__module__.split(".")[0] not in PLAIN and not of_numpy:
        return f"<{class_name(value)}>"
    if isinstance(value, int) and value.bit_length() > 2 * MOST_LETTERS:
        return f"<an integer of {value.bit_length()} bits>"  # whose digits Python may refuse to write
    try:
        return cut(repr(value[: MOST_LETTERS + 1] if isinstance(value, str | bytes) else value))
    except ValueError:  # such an integer is within it
        return f"<{class_name(value)}>"


def cut(text: str) -> str:
    """Return what an error says of a value, without the end of what is long."""
    return text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}..."


def brief(message: str) -> str:
    """Return a message without the inside of what is long: of the names in it, and then of the message itself.

    The beginning says what was given, and the end the way out.
    """
    if len(message) > LONGEST:
        message = re.sub(rf"(\S{{{MOST_LETTERS}}})\S*?([^\w\s]*)(?!\S)", r"\1...\2", message)
    if len(message) > LONGEST:
        message = f"{message[: LONGEST - LAST - len(' ... ')]} ... {message[-LAST:]}"
    return message


def type_name(kind: Any) -> str:
    """Return a type of polars as errors call it; of periods and intervals of pandas, by the names of their fields."""
    if type(kind).__name__ in TEXTS:
        return "text"
    names = [field.name for field in getattr(kind, "fields", ())]
    if names and names[0].startswith("period["):
        return names[0]
    return f"interval {', '.join(names)}" if names and names[0] in ("[left", "(left") else str(kind)


def bad_rows(column: str, rows: Sequence[int] | Any, total: int, what: str, remedy: str) -> BadRowsError:
    """Return the error that counts bad rows of a column, of ``total`` rows, and shows three: see ``BadRowsError``."""
    message = bad_rows_message(column, len(rows), rows[:3], total, what, remedy)
    return BadRowsError(message, column=column, rows=rows, what=what, remedy=remedy)


def bad_rows_message(
    column: str, n: int, first: Sequence[int] | Any, total: int | None, what: str, remedy: str, where: str = ""
) -> str:
    """Return the message about ``n`` bad rows of a column, of which the first are shown, if they have numbers.

    ``total``: how many rows there are; None where more may be bad, which nobody has looked at. A remedy of several
    sentences is a sentence by itself.
    """
    numbers = ", ".join(str(int(row)) for row in first)
    places = "; ".join(filter(None, [where, f"{'rows' if len(first) > 1 else 'row'} {numbers}" * bool(numbers)]))
    many = f"{n:,} of {total:,} rows" if total is not None else f"at least {n:,} {'rows' if n > 1 else 'row'}"
    what, stop = in_number(what, n), "." if remedy.endswith(".") and not remedy.endswith("...") else ";"
    return f"{column}: {many} {what}{f' ({places})' * bool(places)}{stop} {remedy}"


def in_number(what: str, n: int) -> str:
    """Return what is wrong with some rows in the singular where it is one."""
    for many, one in SINGULAR.items() if n == 1 else ():
        what = what.replace(f"{many} ", f"{one} ", 1)
    return what


def check_ci(ci: Any, n_tests: int = 1) -> None:
    """Raise unless ``ci`` is the level of an interval, also where so many tests share it."""
    if isinstance(ci, bool) or not isinstance(ci, Real) or not 0 < ci < 1:  # type: ignore[operator]
        error = BadValueError(f"ci={quote(ci)} is not a level between 0 and 1, as 0.95")
        percent = isinstance(ci, int | float) and 1 < ci < 100
        raise error.offering(ci=f"{ci / 100:g}") if percent else error
    if isinstance(ci, Rational):  # which numpy does not compute with
        raise BadValueError(f"ci={quote(ci)} is no float; pass ci={float(ci):g}")
    if float((1 + (1 - (1 - ci) / n_tests)) / 2) == 1:  # type: ignore[operator]
        shared, way = (f" for n_tests={n_tests} together", "fewer, or ") if n_tests > 1 else ("", "")
        problem = "is so near to 1 that floats cannot tell them apart"
        raise BadValueError(f"ci={quote(ci)}{shared} {problem}; pass {way}a lesser level")


def check_whole(option: str, given: Any, least: int, most: float | None = None) -> None:
    """Raise unless ``given`` is a whole number, at least and at most so much: by default what 64 bits hold."""
    whole, end = isinstance(given, int | Integral) and not isinstance(given, bool), INT64 if most is None else most
    if not whole or not least <= given <= end:
        to = "" if most in (None, math.inf) and (not whole or given < least) else f" to {end}"
        raise BadValueError(f"{option}={quote(given)} is not a whole number from {least}{to}")


def check_bool(option: str, given: Any) -> None:
    """Raise unless ``given`` is True or False."""
    if not isinstance(given, bool):
        raise BadValueError(f"{option}={quote(given)} is not True or False")


def check_text(option: str, given: Any) -> None:
    """Raise unless ``given`` is a text, or None."""
    if not isinstance(given, str | None):
        raise BadValueError(f"{option}={quote(given)} is not a text")


def check_key_names(keys: Iterable[str], result: Iterable[str]) -> None:
    """Raise if a key column is called as a column of the result is."""
    for key in keys:
        if key in result:
            raise ColumnError(f"{quote(key)} is a column of the result as well; rename the frame's column")


def check_case(result: Iterable[str]) -> None:
    """Raise for a key column that differs from another column of the result in capital letters alone."""
    known: dict[str, str] = {}
    for name in result:
        if (other := known.setdefault(name.lower(), name)) != name:
            raise ColumnError(
                f"the result would have columns {quote(other)} and {quote(name)}, which are one name to this engine; "
                "rename the frame's column"
            )


def check_names(columns: Iterable[str]) -> None:
    """Raise for a column of the caller's that is called as only columns are that are made here."""
    for column in columns:
        if column.startswith("\0"):
            raise ColumnError(
                f"a column is called {quote(column)}; names that begin with a null character are kept for columns "
                "that are made here: rename it"
            )


def no_such_verb(name: str, there: Sequence[str], of: str, renamed: Mapping[str, str]) -> UnknownVerbError:
    """Return the error about the name of a verb, or picture, that does not exist.

    Parameters
    ----------
    there : the names that exist.
    of : what has them, as "irm".
    renamed : the name here for some names from elsewhere.
    """
    verb = renamed.get(name, "")
    prefix = "" if verb.startswith("frame_metrics.") else f"{of}."
    hint = f"; it is {prefix}{verb}{'' if verb.endswith(')') else '()'}" if verb else closest(name, there)
    hint = hint or f"; there are {listed(sorted(there))}"
    return UnknownVerbError(f"there is no {of}.{name}{hint}")


def check_one_role_each(roles: Iterable[tuple[str, str]]) -> None:
    """Raise for a column that has two roles; ``roles``: pairs of a role and its column."""
    seen: dict[str, str] = {}
    for role, column in roles:
        if column in seen and {role, seen[column]} != {"cluster", "query"}:  # the queries of one user
            also = "named twice" if seen[column] == role else f"the {seen[column]} too"
            raise ColumnError(f"{role}={quote(column)} is {also}; a column can have only one role")
        seen[column] = role


def no_column(given: str, name: str, there: Sequence[str], hint: str | None = None) -> ColumnError:
    """Return the error for the name of a column that is not there; ``given``: how the caller gave it."""
    near, hint = nearest(name, there), closest(name, there) if hint is None else hint
    error = ColumnError(f"{given}: there is no such column among {listed(there)}{hint}")
    return error.offering({name: [near]}) if isinstance(near, str) and near in hint else error


def check_once(option: str, given: Sequence[Any]) -> None:
    """Raise for a value that occurs twice in a list, each item of which has its own rows in the result."""
    for one, n in Counter(given).items() if len(given) > 1 else ():
        if n > 1:
            raise BadValueError(f"{option}={quote(one)} is asked for twice")


def check_choice(option: str, given: Any, choices: Sequence[Any]) -> None:
    """Raise unless ``given`` is one of ``choices``."""
    if not any(given is choice or (isinstance(given, str) and given == choice) for choice in choices):
        hint = closest(given, [c for c in choices if isinstance(c, str)]) if isinstance(given, str) else ""
        raise UnknownNameError(f"{option}={quote(given)} is not one of {listed(choices)}{hint}")


def import_needed(module: str, what: str, extra: str, error: type[FrameMetricsError] = FrameMetricsError) -> Any:
    """Return a module of a library that the package does without, or raise with the command that installs it.

    Parameters
    ----------
    what : what needs it, and its name, as "pictures need altair".
    extra : the extra of the package that has it; its packages are named, for a package that is on no index has none.
    """
    try:
        import_module(module.partition(".")[0])  # of a library that is gone, a module may still be loaded
        return import_module(module)
    except ImportError:
        raise error(f"{what}, which is not installed: pip install {PACKAGES[extra]}") from None
    except Exception as broken:  # as Altair does without docstrings
        way = "; run Python without -OO" if sys.flags.optimize > 1 else ""
        raise error(f"{what}, which cannot be imported: {type(broken).__name__}: {broken}{way}") from broken


@contextmanager
def about_the_call() -> Iterator[None]:
    """Let errors say that the call is at fault, and not the data."""
    try:
        yield
    except FrameMetricsError as error:
        error.of_call = True
        raise


@contextmanager
def prefix_errors(what: str) -> Iterator[None]:
    """Prefix errors with the name of the other input, whose rows are not those of the frame."""
    try:
        yield
    except FrameMetricsError as error:
        cause = BadValueError if isinstance(error, BadRowsError) else type(error)
        raise cause(f"{what}: {error}") from None
