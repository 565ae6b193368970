"""The function that checks a metric against all laws."""

from __future__ import annotations

from collections.abc import Sequence

from frame_metrics.errors import BrokenLawError, KernelError, NotComputableError, UnknownNameError, listed
from frame_metrics.metrics.metric import Metric, try_kernel
from frame_metrics.metrics.names import read
from frame_metrics.testing import declared, framed, laws
from frame_metrics.testing.cases import family_of
from frame_metrics.testing.trial import SAYS, Trial

LAWS = {
    one.__name__.replace("_", " "): one
    for module in (laws, declared, framed)
    for one in vars(module).values()
    if callable(one) and one in SAYS
}


def check_metric(metric: str | Metric, *, flags: str | Sequence[str] = ()) -> None:
    """Try a metric on small cases, and raise if it breaks a law.

    The laws are about the result (an array of floats, one per query), its range, undefined values, the best value, the
    cutoff, independence of queries, and the declarations about equal scores and unjudged rows. They are tried on all
    rankings of up to three documents, all tables of small counts, or all of up to three scores, and some larger ones.

    Parameters
    ----------
    metric : the metric, or its name, with all required parameters.
    flags : the columns read with ``run.column`` that hold 0 and 1 only. Other columns are tried with numbers from 0 to
        4.

    Raises
    ------
    BrokenLawError
        The metric breaks a law: its ``law`` is the name of the law, its ``example`` the smallest case that was found.
    NotComputableError
        The metric needs a parameter.
    UnknownNameError
        The metric reads no column of that name.

    Examples
    --------
    >>> import frame_metrics
    >>> from frame_metrics.testing import check_metric
    >>> check_metric("ndcg@10")
    >>> @frame_metrics.metric()
    ... def twice_precise(table: frame_metrics.Confusion):
    ...     return 2 * table.tp / (table.tp + table.fp)
    >>> check_metric(twice_precise)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    frame_metrics.errors.BrokenLawError: twice_precise breaks the law 'in range': every value ...
    """
    flags = (flags,) if isinstance(flags, str) else tuple(flags)
    for name, own in read([metric]):
        _check_one(name, own, flags)


def _check_one(name: str, custom: Metric, flags: Sequence[str]) -> None:
    """Raise if a metric breaks a law, or needs a parameter."""
    if custom.missing:
        raise NotComputableError(f"{name} needs {custom.missing[0]}=; check it with one")
    try:
        try_kernel(custom)
    except KernelError as error:
        raise _broken(name, "result", str(error)) from error
    if "max_grade" in custom.reads and custom.params.get("max_grade") is None:
        raise NotComputableError(f"{name} needs max_grade=; check it with one")
    if strange := [flag for flag in flags if flag not in custom.columns]:
        raise UnknownNameError(
            f"flags: {name} reads no column {strange[0]!r}; it reads {listed(custom.columns) or 'none'}"
        )
    family = family_of(custom, flags)
    if family is None:
        raise NotComputableError(f"{name}: laws are about rankings, 2x2 tables, scores and tables of classes")
    trial = Trial(custom, family)
    for title, tried in LAWS.items():
        example = next(tried(trial), None)
        if example is not None:
            raise _broken(name, title, example) from trial.cause


def _broken(name: str, title: str, example: str) -> BrokenLawError:
    return BrokenLawError(
        f"{name} breaks the law {title!r}: {SAYS[LAWS[title]]}; {example}", law=title, example=example
    )
