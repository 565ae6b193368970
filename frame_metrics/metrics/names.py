"""Names of metrics, ours and the field's, read as metrics."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias

from frame_metrics.errors import BadValueError, UnknownNameError, closest
from frame_metrics.metrics.metric import REGISTRY, Metric

# Spellings that are more than another name: a pattern of the whole text, and the text it stands for.
SPELLINGS = (
    (r"(ndcg|map)_cut[_.](\d[\d,]*)", r"\1@\2"),
    (r"(p|recall|success|relative_p)[_.](\d[\d,]*)", r"\1@\2"),
    (r"(?:relative_p|set_relative_p|setrelp|setp\(relative=true\))(@.*)?", r"relative_precision\1"),
    (r"iprec_at_recall[_.](\d.*)", r"iprec@\1"),
    (r"rprec_mult[_.](\d[\d.]*)", r"rprec_mult(multiple=\1)"),
    (r"utility\.([^,]+),([^,]+),([^,]+),([^,]+)", r"utility(tp=\1, fp=\2, fn=\3, tn=\4)"),
    (r"rbp\.(\d+)", r"rbp(p=0.\1)"),
    (r"(ndcg|dcg)_burges(@.*)?", r"\1(gain='exp')\2"),
    (r"numret(\(rel=.*\))(@.*)?", r"num_rel_ret\1\2"),
    (r"bing", "bin_g"),
)
# Names of parameters elsewhere, and what they are here. ir_measures' nDCG takes dcg= and gains=.
PARAMETERS = {("ndcg", "gains"): "gain", ("dcg", "gains"): "gain"}
DCG = {"log2": "linear", "exp-log2": "exp"}
G = "g_measure (the mean of precision and recall)", "g_trec (trec_eval's gain measure)"
TWO_MEANINGS = {
    "G": G,
    "g": G,
    "Accuracy": (
        "accuracy (of the 2x2 table)",
        "the share of pairs in the right order (ir_measures), which is not here",
    ),
}
Asked: TypeAlias = Sequence[tuple[str, Metric]]
FORM = re.compile(r"(?P<name>[^\s(@]+)\s*(?P<args>\(.*\))?\s*(?:@(?P<cutoff>.*))?", re.DOTALL)


def _aliases() -> dict[str, str]:
    """Every name in lower case, and the metric it means."""
    return {other: m.name for m in REGISTRY.values() for other in (m.name, *m.also)}


def read(asked: Sequence[str | Metric]) -> list[tuple[str, Metric]]:
    """Read metrics as the caller wrote them: texts, cutoffs with commas, or metrics as values.

    Returns
    -------
    The name to print and the metric, in the order asked for.
    """
    metrics: list[tuple[str, Metric]] = []
    for item in asked:
        if isinstance(item, Metric):
            metrics.append((str(item), item))
        elif isinstance(item, str):
            metrics.extend(read_text(item))
        else:
            raise BadValueError(f"a metric is a name or a frame_metrics.metrics value, not {item!r}")
    if not metrics:
        raise BadValueError("no metric was asked for; name one, as in evaluate('ndcg@10')")
    names = [name for name, _ in metrics]
    for name in names:
        if names.count(name) > 1:
            raise BadValueError(f"{name!r} is asked for twice")
    return metrics


@cache
def read_text(text: str) -> tuple[tuple[str, Metric], ...]:
    """Read one text, which may name several cutoffs."""
    plain = text.strip()
    _check_meaning(re.split(r"[(@]", plain, maxsplit=1)[0].strip())
    if plain.lower().startswith("set_f."):
        return ((text, _set_f(plain)),)
    if plain.lower().startswith("gm_"):
        return _geometric(text, plain)
    form = FORM.fullmatch(_respelled(plain))
    if form is None:
        raise UnknownNameError(f"{text!r} does not read as a metric: name(parameter=value)@cutoff")
    metric = _named(text, form["name"], form["args"])
    if form["cutoff"] is None:
        return ((text, metric),)
    cutoffs = _cutoffs(text, form["cutoff"])
    if len(cutoffs) == 1:
        return ((text, metric @ cutoffs[0]),)
    stem = plain[: plain.rindex("@")] if "@" in plain else str(metric)
    return tuple((f"{stem}@{cutoff}", metric @ cutoff) for cutoff in cutoffs)


def _check_meaning(name: str) -> None:
    if name in TWO_MEANINGS:
        one, other = TWO_MEANINGS[name]
        raise UnknownNameError(f"{name!r} means two things: {one}, or {other}; write the one you mean")


def _geometric(text: str, plain: str) -> tuple[tuple[str, Metric], ...]:
    """The metrics that follow gm_, averaged geometrically."""
    metrics = read_text(plain[3:])
    if metrics[0][1].summed:
        raise UnknownNameError(f"{text!r}: counts are summed, and have no geometric mean")
    if metrics[0][1].average is not None:
        raise UnknownNameError(f"{text!r}: gm_ is said twice")
    return tuple((plain[:3] + name, replace(metric, average="gmean")) for name, metric in metrics)


def _respelled(text: str) -> str:
    """A text in our own spelling, where it is a pattern of another tool."""
    for pattern, ours in SPELLINGS:
        if re.fullmatch(pattern, text, re.IGNORECASE):
            text = re.sub(pattern, ours, text, flags=re.IGNORECASE)
    return text


def _cutoffs(text: str, given: str) -> list[float]:
    if "(" in given:
        raise BadValueError(f"{text!r}: the cutoff comes last, as in ndcg(gain='exp')@10")
    return [_number(text, part) for part in given.split(",")]


def _number(text: str, part: str) -> float:
    try:
        return int(part) if re.fullmatch(r"\s*[+-]?\d+\s*", part) else float(part)
    except ValueError:
        raise BadValueError(f"{text!r}: the cutoff {part!r} is not a number") from None


def _set_f(text: str) -> Metric:
    """trec_eval's set_F takes beta squared."""
    squared = _number(text, text[len("set_f.") :])
    if not squared >= 0:
        raise BadValueError(f"{text!r}: beta squared is not 0 or more")
    return REGISTRY["fbeta"](beta=squared**0.5)


def _named(text: str, name: str, args: str | None) -> Metric:
    known = _aliases()
    if name.lower() not in known:
        raise UnknownNameError(f"there is no metric {name!r}{closest(name, known)}")
    metric = REGISTRY[known[name.lower()]]
    return metric(**_parameters(text, metric.name, args)) if args else metric


def _parameters(text: str, name: str, args: str) -> dict[str, Any]:
    given: dict[str, Any] = {}
    said: dict[str, str] = {}
    for word, value in _words(text, args):
        key = PARAMETERS.get((name, word), word)
        if name in ("ndcg", "dcg") and word == "dcg" and isinstance(value, str) and value in DCG:
            key, value = "gain", DCG[value]
        if key in said:
            both = f"{said[key]}= and {word}= say the same; give one of them"
            raise BadValueError(f"{text!r}: {f'{word}= is given twice' if said[key] == word else both}")
        given[key], said[key] = value, word
    if name == "recall" and "recall" in given:
        raise UnknownNameError(f"{text!r}: recall takes no recall level")
    return given


def _words(text: str, args: str) -> list[tuple[str, Any]]:
    """The parameters in brackets as they stand there, and their values."""
    try:
        call = ast.parse(f"f{args}", mode="eval").body
        # Python reads (p=0.5)(p=0.9) and (p=0.5).x(p=0.9) as calls too, of something else than a name.
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise ValueError
        return [(str(word.arg), _literal(word.value)) for word in call.keywords]
    except (SyntaxError, ValueError, TypeError):
        raise BadValueError(f"{text!r}: the parameters do not read as (name=value, ...)") from None


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_literal(node.operand)
    if isinstance(node, ast.Name) and node.id == "inf":
        return float("inf")
    value = ast.literal_eval(node)
    if isinstance(node, ast.Dict) and len(value) < len(node.keys):
        raise ValueError
    return value
