"""Gates: limits for the numbers of a result, and the outcome of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from math import ceil, log
from typing import Any

import polars as pl

from frame_metrics.backends.display import DIGITS, cell_text, printable
from frame_metrics.command.gates.one_sided import NOT_ALONE, Unpaired, far_fewer, keys_of_row
from frame_metrics.command.gates.outcomes import Outcome, Passed, passed_with, short
from frame_metrics.errors import BadValueError, FrameMetricsError, listed
from frame_metrics.measuring.courses import is_filled
from frame_metrics.metrics.saved_names import metric_of, read_elsewhere

CLOSE = 1e-12  # a loss that differs from its limit by no more is rounded
ALPHA = 0.05  # the level at which a difference counts
_number = partial(cell_text, digits=DIGITS)


def _as_different(*numbers: float) -> list[str]:
    """Return numbers as text, with all their digits if fewer would print different ones alike."""
    texts = [*map(_number, numbers)]
    alike = len({*texts}) < len({*numbers})
    return [cell_text(one, digits=None) for one in numbers] if alike else texts


def with_gated(asked: Sequence[str], gated: Sequence[str], *, all_there: bool) -> list[str]:
    """Return the metrics to compute: those asked for, then those of gates that are not among them.

    Parameters
    ----------
    all_there : True if, without a metric, all metrics of the frame are evaluated; then the result is [].
    """
    if not asked and all_there:
        return []
    metrics, known = list(asked), [metric for _, metric in read_elsewhere(asked)] if asked else []
    for name in gated:
        new = [(written, metric) for written, metric in read_elsewhere([name]) if metric not in known]
        metrics += [written for written, _ in new]
        known += [metric for _, metric in new]
    return metrics


def check_limits(flag: str, gate: Mapping[str, float]) -> None:
    """Raise for a limit that no value of its metric can reach."""
    for name, limit in gate.items():
        for _, metric in read_elsewhere([name]):
            least, most = metric.range
            if limit < least or limit > most:
                raise BadValueError(
                    f"{flag} {name}={_number(limit)}: values of {name} are from {_number(least)} to {_number(most)}"
                )


def limits(result: pl.DataFrame, least: Mapping[str, float], most: Mapping[str, float]) -> Iterator[Outcome]:
    """Check each value of a gate's metric, of every system, segment and average, against its limit.

    Parameters
    ----------
    least, most : the lowest and the highest value allowed, by metric.
    """
    for word, gate in (("under", least), ("over", most)):
        for name, limit in gate.items():
            meant = {metric for _, metric in read_elsewhere([name])}
            rows = [row for row in result.iter_rows(named=True) if metric_of(row["metric"]) in meant]
            if not rows:
                problem = f"{name} was not evaluated: the result has no row of it"
                yield Outcome(f"{name} {word} {_number(limit)}", problem, True)
            yield from (_limit(row, limit, word) for row in rows)


def _limit(row: Mapping[str, Any], limit: float, word: str) -> Outcome:
    """Check one value against its limit; an undefined value fails, but that of a class without rows."""
    value, where = row["value"], _where(row)
    number, its_limit = (None, _number(limit)) if value is None else _as_different(value, limit)
    bound = f"at {'least' if word == 'under' else 'most'} {its_limit}"
    name = f"{row['metric']} {bound}{where}"
    if value is None or (row.get("support") == 0 and row["n_undefined"]):  # which counts as 0
        text = f"{row['metric']} is undefined{where}, and has to be {bound}"
        return _of_class(Outcome(name, text, True), row)
    failed = value < limit if word == "under" else value > limit
    told = f"{row['metric']} is {number}{where}, {f'{word} {its_limit}' if failed else bound}"
    beyond = limit - value if word == "under" else value - limit
    return Outcome(name, told, failed, passed=Passed(row["metric"], beyond, told, 0))


def worse(
    result: pl.DataFrame, alpha: float, unpaired: Sequence[Unpaired], margin: Any = None, least_p: float = 0
) -> Iterator[Outcome]:
    """Check each difference of a comparison: it fails if it is for the worse and its p-value is at most ``alpha``.

    Parameters
    ----------
    least_p : the least p-value of a test by permutations; a loss that has it, above ``alpha``, is undecided.
    unpaired : for each row what is on one side alone; at least half has to be compared.
    margin : the loss that is accepted, by metric, or one number for all; metrics without one are not checked. A
        difference fails if its interval, at the level 1 - ``alpha``, lies beyond the margin. None: as above.
    """
    from frame_metrics.verbs.compare.margins import margin_of

    if result.is_empty():
        yield Outcome("not worse", "nothing was compared: the result has no rows", True)
    for row, alone in zip(result.iter_rows(named=True), unpaired, strict=True):
        metric, where, difference, p = row["metric"], _where(row), row["difference"], row["p_adjusted"]
        most = 0.0 if margin is None else margin_of(margin, metric)
        if most is None:
            continue
        by_more = f" by more than {_number(most)}" * bool(most)
        name = f"{metric} not worse than {row['baseline']}{by_more}{where}"
        if difference is None or p is None:
            yield _of_class(Outcome(name, _uncompared(row), True), row)
            continue
        if alone.too_many:
            yield Outcome(name, _uncompared(row, alone.words), True)
            continue
        compared = metric_of(metric)
        lost = _sure_loss(row, compared.sign, alpha)
        failed = lost > most if most else difference * compared.sign < 0 and p <= alpha
        text = f"{metric} {_sides(row)}{where}: a difference of "
        verdict = f"{'' if failed else 'not '}worse"
        if most:
            accepted = f"worse by at least {_number(lost)}, and up to {_number(most)} worse is accepted,"
            verdict = accepted if failed else f"not surely worse{by_more}"
        text += f"{_number(difference)}, p = {_number(p)}, {verdict} at level {_number(alpha)}"
        limited = not most and row.get("test") == "randomization" and row["p_value"] <= least_p * (1 + CLOSE)
        if limited and not failed and difference * compared.sign < 0:
            why = f"{text}; p can be no less with so few permutations, so that the gate cannot fail"
            yield Outcome(name, why, failed=True, undecided=True)
            continue
        taken = _direction(metric)
        noted = [alone.noted(metric, where), taken]
        sentence, remark = ("; ".join(filter(None, one)) for one in ((text, alone.words, taken), noted))
        yield Outcome(name, sentence, failed, remark, passed=_passed(row, "p_adjusted", most))


def _direction(metric: str) -> str:
    """Return words for a metric of which it is not known whether more is better; "" for others."""
    return f"{metric} has no direction that is known, and less of it counts as worse" * (
        metric_of(metric).higher is None
    )


def _sure_loss(row: Mapping[str, Any], sign: float, alpha: float) -> float:
    """Return the least loss that the interval of a row holds; 0 if it holds none.

    Differences that are all equal have no interval: the loss of each is that of the mean, if its p-value is small.
    """
    near = row["ci_high"] if sign > 0 else row["ci_low"]
    if near is None:
        near = row["difference"] if row["p_adjusted"] <= alpha else 0
    return max(-sign * near, 0.0)


def not_total(over: str) -> Outcome:
    """Return the outcome of a total that is not compared, as some query is in several of its segments."""
    why = "a query is in several of them; run the gate without --by too"
    text = f"the total over {over} is not compared: {why}"
    return Outcome(f"total over {over}", text, failed=False, noted=text)


def dropped(result: pl.DataFrame, most: Any, unpaired: Sequence[Unpaired]) -> Iterator[Outcome]:
    """Check each difference of a comparison: it fails if it is for the worse by more than ``most``.

    Parameters
    ----------
    most : the greatest loss by metric, or one number for all; metrics without one are not checked.
    unpaired : as ``worse`` takes it.
    """
    if result.is_empty():
        yield Outcome("no drop", "nothing was compared: the result has no rows", True)
    for row, alone in zip(result.iter_rows(named=True), unpaired, strict=True):
        if row["difference"] is None or alone.too_many:
            outcome = Outcome(f"{row['metric']} no drop{_where(row)}", _uncompared(row, alone.words), True)
            yield _of_class(outcome, row)
            continue
        yield from _drop(row, row["value"], row["baseline_value"], most, alone)


def dropped_means(result: pl.DataFrame, saved: pl.DataFrame, most: Any) -> Iterator[Outcome]:
    """Check each row of evaluate against the value that evaluate wrote before of the same system, segment and metric.

    Parameters
    ----------
    most : as in ``dropped``.

    Raises
    ------
    FrameMetricsError
        The saved values are of systems or segments, and the result is not, or the other way round.
    """
    from frame_metrics.verbs.compare.margins import margin_of

    _check_keys(result, saved)
    names = [name for name in _before_values(result) if name in result.columns and name in saved.columns]
    result, saved = (_without_filled(frame) for frame in (result, saved))
    known = {_texts(row, names): row for row in saved.iter_rows(named=True)}
    for row in result.iter_rows(named=True):
        saved_row = known.pop(_texts(row, names), {})
        before, n = saved_row.get("value"), saved_row.get("n") or 0
        if before is None or row["value"] is None:
            what = "is undefined" if row["value"] is None else "has no saved value"
            yield Outcome(f"{row['metric']} no drop{_where(row)}", f"{row['metric']} {what}{_where(row)}", True)
            continue
        fewer = far_fewer(row["n"], n, are_too_few=True)
        if fewer.too_many and margin_of(most, row["metric"]) is not None:
            yield Outcome(f"{row['metric']} no drop{_where(row)}", _uncompared(row, fewer.words), True)
            continue
        yield from _drop(row, row["value"], before, most)
    asked = {*result["metric"]}
    for row in known.values():
        if row["metric"] in asked and row["value"] is not None:
            told = f"{row['metric']} has a saved value and none now{_where(row)}"
            yield Outcome(f"{row['metric']} no drop{_where(row)}", told, True)


def _without_filled(means: pl.DataFrame) -> pl.DataFrame:
    """Return means with null in the place of values that stand for undefined ones."""
    return means.with_columns(pl.when(~is_filled(means)).then("value").alias("value"))


def _check_keys(result: pl.DataFrame, saved: pl.DataFrame) -> None:
    """Raise unless saved values are of the same systems' and segments' columns; one that has one value may be more."""
    own, theirs = ({*takewhile(lambda name: name != "metric", frame.columns)} for frame in (result, saved))
    more = sorted(name for name in theirs - own if saved[name].n_unique() > 1)
    if more:
        raise FrameMetricsError(
            f"the saved means differ by {listed(more)}, and these do not; evaluate both with the same "
            "--system and --by, or name one system with --saved-system"
        )
    if lacking := sorted(own - theirs):
        raise FrameMetricsError(
            f"these means differ by {listed(lacking)}, and the saved ones do not; evaluate both with the "
            "same --system and --by"
        )


def _before_values(result: pl.DataFrame) -> list[str]:
    """The columns of a result of evaluate that say what a value is of."""
    return [*takewhile(lambda name: name != "metric", result.columns), "metric", "average"]


def _texts(row: Mapping[str, Any], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in names)


def _drop(
    row: Mapping[str, Any], value: float, before: float, most: Any, alone: Unpaired = NOT_ALONE
) -> Iterator[Outcome]:
    """Check one value against that of before; there is no outcome for a metric without a limit.

    Parameters
    ----------
    alone : what is on one side alone.
    """
    from frame_metrics.verbs.compare.margins import margin_of

    limit, metric = margin_of(most, row["metric"]), row["metric"]
    if limit is None:
        return
    lost = (before - value) * metric_of(metric).sign
    by, accepted = _as_different(abs(lost), limit)
    comparison = f"{by} {'worse' if lost > 0 else 'better'}, and up to {accepted} worse is accepted"
    text = f"{metric} is {_number(value)} against {_number(before)}{_where(row)}: {comparison}"
    text = "; ".join(filter(None, (text, alone.words, taken := _direction(metric))))
    noted = "; ".join(filter(None, (alone.noted(metric, _where(row)), taken)))
    name, passed = (
        f"{metric} at most {_number(limit)} worse{_where(row)}",
        passed_with(metric, value, before, _where(row), accepted=limit),
    )
    yield Outcome(name, text, lost > limit + CLOSE, noted, passed=passed)


def not_worse(result: pl.DataFrame, alpha: float, unpaired: Sequence[Unpaired], margin: Any) -> Iterator[Outcome]:
    """Check each difference of a comparison with ``margin=``: it passes if ``p_not_worse`` is at most ``alpha``.

    A null passes no gate, and is undecided.

    Parameters
    ----------
    unpaired : as ``worse`` takes it.
    margin : the margins by metric, or one number for all; metrics without one are not checked.
    """
    from frame_metrics.verbs.compare.margins import loss_left, margin_of, unknown_why

    if result.is_empty():
        yield Outcome("not worse", "nothing was compared: the result has no rows", True)
    for row, alone in zip(result.iter_rows(named=True), unpaired, strict=True):
        most, metric, where, p = margin_of(margin, row["metric"]), row["metric"], _where(row), row["p_not_worse"]
        if most is None:
            continue
        name = f"{metric} not worse than {row['baseline']} by more than {_number(most)}{where}"
        if row["difference"] is None or alone.too_many:
            yield _of_class(Outcome(name, _uncompared(row, alone.words), True, undecided=True), row)
            continue
        text = f"{metric} {_sides(row)}{where}: "
        if p is None:
            yield Outcome(name, f"{text}{unknown_why(row)}", True, undecided=True)
            continue
        failed = p > alpha
        if failed and (few := _none_moved(row, most, alpha)):
            yield Outcome(name, "; ".join(filter(None, (f"{text}{few}", alone.words))), True, undecided=True)
            continue
        loss = _number(loss_left(row, metric_of(metric), most))
        text += f"a loss of up to {loss} is not excluded" if failed else f"not worse by more than {_number(most)}"
        text += f", p = {_number(p)} at level {_number(alpha)}"
        sentence, passed = "; ".join(filter(None, (text, alone.words))), _passed(row, "p_not_worse", most)
        yield Outcome(name, sentence, failed, alone.noted(metric, where), passed=passed)


def _none_moved(row: Mapping[str, Any], margin: float, alpha: float) -> str:
    """Return words for a row in which no query moved, of too few queries to exclude a loss in rare ones; else "".

    The p-value is then a power of the number of queries, (1 - share)^n, which a correction for systems may take to 1.
    """
    p, n = row["p_not_worse"], row["n"]
    if row.get("wins") != 0 or row.get("losses") != 0 or p == 0:
        return ""
    why = f"none of {n:,} queries moved, too few to exclude a loss of {_number(margin)} by rare ones"
    known = row.get("n_tests") == 1 and p < 1
    more = f": {ceil(n * log(alpha) / log(p)):,} queries, none of which moves, would" if known else ""
    return f"{why}{more}, p = {_number(p)} at level {_number(alpha)}"


def _of_class(outcome: Outcome, row: Mapping[str, Any]) -> Outcome:
    """Return the outcome of what is undefined: a class that is never true, now and before, fails no gate."""
    rows = [row[name] for name in ("support", "baseline_support", "n_unpaired") if name in row]
    if "support" not in row or any(rows):
        return outcome
    return Outcome(outcome.name, outcome.sentence, failed=False, noted=f"{outcome.sentence}; not checked")


def _uncompared(row: Mapping[str, Any], unsaved: str = "") -> str:
    """Return words for a row that cannot be compared; ``unsaved``: for queries of one side, if these are too many."""
    rows = [row[name] for name in ("support", "baseline_support") if name in row]  # of a class
    why = "no row of the class" if 0 in rows else f"n is {min([*rows, row['n']])}, and p is undefined"
    why = f"{unsaved}, and at most half may" if unsaved else why
    return f"{row['metric']} cannot be compared{_where(row)}: {why}"


def _passed(row: Mapping[str, Any], p: str, most: float) -> Passed:
    """Return the difference of a row of a comparison, with its interval and the p-value of a column."""
    ends, more = (row["ci_low"], row["ci_high"]), f", {p} {short(row[p])}"
    both, sides = (row["value"], row["baseline_value"]), _sides(row) if "lambda" in row else ""
    return passed_with(row["metric"], *both, _where(row), ends, more, accepted=most, sides=sides)


def _sides(row: Mapping[str, Any]) -> str:
    """Return words for both sides of a row of a comparison.

    Of people and a machine only the baseline is named: the values of a pair are estimated for its difference, and those
    that ``evaluate`` prints for each system by itself.
    """
    values = f"is {_number(row['value'])} against {_number(row['baseline_value'])}"
    return f"against {printable(str(row['baseline']))}" if "lambda" in row else values


def _where(row: Mapping[str, Any]) -> str:
    """The system and segment of a row, and its average where it is no plain mean, in brackets."""
    keys = keys_of_row(row) | ({"average": row["average"]} if row.get("average") not in (None, "macro") else {})
    over = keys.get("total_over") or ""
    totalled = [*over.split(", "), "total_over"]
    texts = [f"{name} {'null' if value is None else value}" for name, value in keys.items() if name not in totalled]
    texts = [f"total over {over}", *texts] if over else texts
    return f" ({printable(', '.join(texts))})" if texts else ""
