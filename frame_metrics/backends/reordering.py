"""Expressions of polars that move values to other rows, as a sort does."""

from __future__ import annotations

import re

import polars as pl

MOVES = ("sort", "sort_by", "shuffle", "sample", "top_k", "top_k_by", "bottom_k", "bottom_k_by", "unique")
REVERSE = "reverse"  # does so too, unless it is undone by another one
# Functions whose result does not depend on which row holds a value; lookups; and functions of the user.
ONE = {
    *("first", "last", "get", "item", "min", "max", "nan_min", "nan_max", "mean", "median", "sum", "product"),
    *("std", "var", "quantile", "len", "count", "n_unique", "null_count", "any", "all", "implode", "list", "skew"),
    *("kurtosis", "gather", "search_sorted", "python_udf"),
}
CALL = re.compile(r"\.(?:(?P<space>\w+)\.)?(?P<name>\w+)\(")  # as .sort( or .list.sort(


def moving_function(expression: pl.Expr) -> str | None:
    """Return the name of the function by which an expression moves values to other rows, None if there is none.

    A sort below an aggregate, as in ``pl.col("day").sort_by("time").first().over("search")``, moves nothing. Neither
    does a lookup (``gather``).
    """
    return next(iter(sorted(_moves(expression))), None)


def without_groups(expression: pl.Expr) -> pl.Expr:
    """Return what is computed in each group, for an expression that ends with ``.over()``, else the expression."""
    inputs = expression.meta.pop()
    call = _call(expression, inputs)
    return inputs[-1] if call and call[0] == ".over(" else expression


def _call(expression: pl.Expr, inputs: list[pl.Expr]) -> re.Match[str] | None:
    """Return the last call of an expression, as ".sort(" or ".list.sort("; None for an operator or a column."""
    own, text = str(inputs[-1]) if inputs else "", str(expression)
    return CALL.match(text, len(own)) if inputs and text.startswith(own) else None


def _moves(expression: pl.Expr) -> set[str]:
    """Return the names of the functions that move the values of an expression."""
    inputs = expression.meta.pop()
    if not inputs:
        return set()
    call = _call(expression, inputs)
    name = call["name"] if call and not call["space"] else ""
    if name in ONE:
        return set()
    parts = inputs[-1:] if call and call["space"] else inputs  # .list.eval() has an expression of the list's elements
    below = set().union(*map(_moves, parts))
    return below ^ {REVERSE} if name == REVERSE else below | ({name} & {*MOVES})
