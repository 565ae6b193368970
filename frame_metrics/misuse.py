"""Calls with what a verb does not take: roles, options of other verbs, and what other tools call them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, ParamSpec, TypeVar

from frame_metrics.backends.forked import guarded, is_lost
from frame_metrics.backends.frames import backend_of
from frame_metrics.errors import (
    BadValueError,
    ColumnError,
    FrameMetricsError,
    UnknownNameError,
    closest,
    nearest,
    quote,
)
from frame_metrics.metrics.docstrings import docstring
from frame_metrics.plan.declared import check_rows
from frame_metrics.plan.plan import Plan
from frame_metrics.roles.columns import PER_SYSTEM
from frame_metrics.roles.roles import Roles, option_called, role_called

Given = ParamSpec("Given")
Result = TypeVar("Result")
# What to do where a verb does not have an option of another one.
INSTEAD = {
    "margins": "; leave out by= to take all segments together",
    "k": "; a cutoff is part of a metric's name, as 'ndcg@10'",
    "layout": "; pivot() the result",
    "ci": "; intervals are those of evaluate()",
    "average": "; other averages are those of evaluate(), side by side with by=",
    "max_grade": "; it is part of a metric's name, as 'err(max_grade=3)@10'",
}
MOST_LETTERS = 400  # letters of the documentation of an argument that are shown
# A call of each option that only one verb has, in the words of a message.
OPTIONS = {
    **{name: f"judge(), as irm.judge(qrels, {name}=...)" for name in ("annotator", "subtopic", "several", "sampling")},
    "proxy": "judge(), as irm.judge(qrels, proxy=machine); an answer with one label is a query with one document",
    "qrels": "judge(), as irm.judge(qrels)",
    **dict.fromkeys(("test", "correction", "permutations"), "compare() and ab_test()"),
    **{
        name: f"ab_test(), of arms: irm(arm=...).ab_test(..., {name}=...)"
        for name in ("covariate", "strata", "looks", "first_look", "split")
    },
}
OPTIONS["margin"] = "compare(), ab_test() and change(), the loss that would still be accepted"
OPTIONS["baseline"] = "compare(), ab_test(), change() and others"
_USE_ARM = "name the column of arms, which have queries of their own, with arm= in the place of system="
_PAIRS = "; it pairs, and arms with queries of their own are compared by ab_test() and change(), of arm="
# Options that were, or might be, of a verb under another name or in another way, and the way now.
_ONE_THRESHOLD = "; it has a row for each score: irm(threshold=0.5).evaluate(...) is that of one threshold"
GONE = {
    "paired": {
        "compare": _PAIRS,
        **dict.fromkeys(("sample_size", "report", "summary"), f"; {_USE_ARM}"),
    },
    "unpaired": {"compare": _PAIRS},
    "text": dict.fromkeys(("click_judgments", "propensities"), "; pass the column of the search text as query_text="),
    "target": {"sample_size": "; pass detect="},
    **{name: {"thresholds": _ONE_THRESHOLD} for name in ("at", "thresholds")},
    "of": dict.fromkeys(("click_judgments", "propensities"), "; pass the column of the search text as query_text="),
    **{
        name: dict.fromkeys(("compare", "ab_test", "change"), "; pass margin=, the loss that would still be accepted")
        for name in ("delta", "tolerance", "equivalence", "non_inferiority")
    },
    "method": {"propensities": "; pass estimator="},
}
# Verbs of other names.
RENAMED = {
    **dict.fromkeys(("plan", "power", "solve_power", "power_analysis", "required_n", "n_needed", "mde"), "sample_size"),
    **dict.fromkeys(("cuped", "experiment", "abtest", "split_test"), "ab_test"),
    **dict.fromkeys(("week_on_week", "trend", "diff"), "change"),
    "srm": "audit(split=...)",
    **dict.fromkeys(("judgments", "click_models", "click_model", "ctr"), "click_judgments"),
    **dict.fromkeys(("to_trec", "write_trec", "to_run", "write_run"), "frame_metrics.write_run(frame, path)"),
    **dict.fromkeys(("interleave", "interleaved", "team_draft", "preference"), "interleaving"),
}


class Written(str):
    """A type or a default as help() shows it: what is written in the code, without quotes."""

    __repr__ = str.__str__


def _as_written(method: Callable[..., Any]) -> Signature:
    """The signature of a method with its types as they are written."""
    declared = signature(method)
    told = [one.replace(annotation=Written(one.annotation)) for one in [*declared.parameters.values()][1:]]
    own = next(iter(declared.parameters.values()))
    return declared.replace(parameters=[own, *told], return_annotation=Written(declared.return_annotation))


def verb(method: Callable[Given, Result]) -> Callable[Given, Result]:
    """Make a method a verb: what it is called with and does not take is an error in the caller's words."""

    @wraps(method)
    def checked(*args: Given.args, **options: Given.kwargs) -> Result:
        irm: Any = args[0] if args else None
        if hasattr(irm, "_given"):
            check_rows(method.__name__, irm._given, irm._judgments)
        try:
            if is_lost():
                return guarded(f"{method.__name__}()", _rows_of(args), lambda: method(*args, **options))
            return method(*args, **options)
        except TypeError:  # of the call itself, or from within
            try:
                signature(method).bind(*args, **options)
            except TypeError as error:
                raise _misused(method, args, options, str(error)) from None
            raise

    checked.__signature__ = _as_written(method)  # type: ignore[attr-defined]
    return checked


def _rows_of(args: tuple[Any, ...]) -> int | None:
    """The rows of the frame whose verb is called; None where they are not in memory."""
    return backend_of(args[0].frame).n_rows_in_memory if args and hasattr(args[0], "frame") else None


def _plan_of(args: tuple[Any, ...]) -> Plan | None:
    """The plan of the object whose verb is called; None where the class is asked without one."""
    return getattr(args[0], "_plan", None) if args else None


def refuse_positional(columns: Sequence[Any]) -> None:
    """Raise for columns that are given without their roles, and for judgments beside the results."""
    if columns and (isinstance(columns[0], Mapping) or hasattr(columns[0], "columns")):
        raise ColumnError(
            "give the results first, and their judgments to judge(): IRM(results).judge(judgments); "
            f"{quote(columns[0])} is no name of a column"
        )
    if columns and not isinstance(columns[0], str):
        raise ColumnError(
            f"give one frame, and name its columns: IRM(pandas.DataFrame({{'label': labels, 'score': scores}}), "
            f"label='label', score='score'); {quote(columns[0])} is no name of a column"
        )
    if columns:
        given = ", ".join(map(quote, columns))
        raise ColumnError(f"irm({given}): name the role of each column, as irm(query={quote(columns[0])})")


def _misused(
    method: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any], error: str
) -> FrameMetricsError:
    """The error of a verb that was called with what it does not take."""
    plan, name, takes = _plan_of(args), method.__name__, dict(signature(method).parameters)
    takes.pop("self", None)
    several = next((option for option, one in takes.items() if one.kind is Parameter.VAR_POSITIONAL), None)
    option = next((option for option in options if option not in takes or option == several), None)
    if option is None:
        error = error.replace("keyword-only ", "")  # which Python says from 3.12 on
        more = [*args[2:]] if "metrics" in takes else []  # behind the path
        named = f"; pass metrics={quote(more)}" if more and all(isinstance(one, str) for one in more) else ""
        return BadValueError(f"{name}(): {error}{named or _documented(method, error)}")
    if option == several:
        return BadValueError(f"{name}(): give {option} without a name, one by one or in a list, as {name}('f1')")
    value = options[option]
    if option in Roles.__annotations__:
        both = ", which reads the judgments too" if (name, option) == ("judge", "scale") else ""
        one = _to_one_system(plan, name, value) if option == "system" else None
        one = _to_one_query(plan, name, value) if option == "query" else one
        if one:
            return ColumnError(f"{name}() {one}")
        return ColumnError(f"{option}= is set before {name}(): {_set_before(option, value, name)}{both}")
    role = role_called(option)
    meant = f"; set {role}= before: {_set_before(role, value, name)}" if role and role not in takes else ""
    hint = (
        GONE.get(option, {}).get(name)
        or INSTEAD.get(option)
        or option_called(option, takes)
        or meant
        or option_of(option)
    )
    hint = hint or closest(role or option, takes)
    if not hint and isinstance(value, str) and (near := nearest(option, Roles.__annotations__)):
        hint = f"; did you mean {near}=, which is set before: {_set_before(near, value, name)}"
    return UnknownNameError(f"{name}() has no option {quote(option)}{hint}")


def _set_before(role: str, value: Any, name: str) -> str:
    """The call of a verb after a role or convention is set."""
    return f"search({role}={quote(value)}).{name}(...), with your object for search"


def option_of(name: str) -> str:
    """Return the end of a message on an option of another verb; "" where no verb has it."""
    return f"; it is an option of {OPTIONS[name]}" if name in OPTIONS else ""


def _documented(method: Callable[..., Any], error: str) -> str:
    """The documentation of an argument that an error of Python calls missing, its first sentences."""
    missing = re.search(r"missing a required argument: '(\w+)'", error)
    entry = missing and re.search(rf"^{missing[1]} : ((?:.+\n)(?:    .+\n)*)", docstring(method), re.M)
    if missing is None or entry is None:
        return ""
    text = " ".join(entry[1].split())
    text = text if len(text) <= MOST_LETTERS else text[: text.rindex(".", 0, MOST_LETTERS)]
    return f"; {missing[1]}: {text}".removesuffix(".")


def _to_one_query(plan: Plan | None, name: str, value: Any) -> str | None:
    """The way to one query, by its value; None where this is the name of a column."""
    if plan is None or (isinstance(value, str) and value in plan.available) or not isinstance(value, str | int):
        return None
    return (
        f"gives all queries, and query= names a column; for one, use explain(..., query={quote(value)}), or keep its "
        f"rows of {'the frame before .irm' if name in ('audit', 'judge') else 'the result'}"
    )


def _to_one_system(plan: Plan | None, name: str, value: Any) -> str | None:
    """The way to the rows of one system, by its name; None where this is the name of a column and no more."""
    if plan is None or not isinstance(value, str | int):
        return None
    for role in PER_SYSTEM:
        if isinstance(columns := plan.roles.get(role), list | tuple) and value in columns:
            return f"takes no system; for {quote(value)} alone use irm({role}={quote(value)}).{name}(...)"
    if value in plan.available:
        return None
    column = plan.roles.get("system")
    rows = "its rows" if column is None else f"the rows in which {column} is {quote(value)}"
    where = "the frame before .irm" if column is None or name in ("audit", "judge") else "the result"
    return f"takes no system, and {quote(value)} is no column of the frame but a value; keep {rows} of {where}"
