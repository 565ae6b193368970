"""Averages in the names of metrics, and parameters of metrics as options, in the words of the command line.

They are those of macro_f1, and of --beta 2 and --cost-fp 5.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

import polars as pl

from frame_metrics.command.commands import metrics_taken, options_of
from frame_metrics.command.files.columns_there import columns_in, first_rows, scan
from frame_metrics.command.offers.named_metrics import METRIC_FLAGS, is_metric, parted, with_before
from frame_metrics.command.offers.other_options import RETIRED
from frame_metrics.metrics.metric import REGISTRY, Metric
from frame_metrics.metrics.names import plain_name, read_text, without_average

OF_LIMITS = ("--fail-under", "--fail-over", "--max-drop", "--margin", "--subject-to")  # flags of metrics with numbers
TWO_CLASSES = 2
DEFAULT = "macro"  # the average over classes where no option sets it
# Other words for parameters of metrics.
PARAMETER_WORDS = (
    (r"false_?(?:positives?|alarms?)", "fp"),
    (r"false_?negatives?|miss(?:es|ed)?", "fn"),
    (r"persistence|patience", "p"),
    (r"(?:n|num|number_of)_bins", "bins"),
)
WITH_PARAMETERS = {"f1": "fbeta"}  # the metric whose parameters another has, with values
PAIRS = re.compile(r"\w+=[^,=]+(?:,\w+=[^,=]+)*")
LITERAL = re.compile(r"[-+]?\d*\.?\d+(?:e-?\d+|%)?|true|false", re.IGNORECASE)
VALUE = re.compile(rf"{LITERAL.pattern}|[a-z_]+", re.IGNORECASE)


def with_averages(name: str, arguments: Sequence[str]) -> list[str]:
    """Return arguments in which averages over classes are those of --average, or of --classes where there are two.

    A command without --average has the macro average of several classes, and of queries. Another average stays in its
    name, as does one of two classes beside a metric of one of them.
    """
    found, averages, seen, alone = list[str](), dict[str, None](), set[str](), False
    flagged = [word for one in arguments for word in _parts(one)]
    for one, behind in zip(flagged, ["", *flagged], strict=False):
        named, equals, limit = one.rpartition("=") if behind in OF_LIMITS and "=" in one else (one, "", "")
        is_name = equals or _may_be_metric(one, behind)
        pairs = [_without_average(part) for part in parted(named)] if is_name else [(one, "")]
        averages |= {average: None for _, average in pairs if average}
        alone = alone or any(not average and is_name and not equals and _has_averages(part) for part, average in pairs)
        word = f"{','.join(part for part, _ in pairs)}{equals}{limit}"
        if is_name and word in seen:
            found = found[:-1] if behind in METRIC_FLAGS else found
            continue
        seen |= {word} if is_name and not equals else set()
        found.append(word)
    if not averages or "--value" in arguments:  # whose columns have names of their own
        return [*arguments]
    option, labels = options_of(name).get("average"), _labels(arguments)
    classes = labels if len(labels) == TWO_CLASSES else []
    by_default = [*averages] == [DEFAULT] and (_has_queries(arguments) or (_decides(arguments) if classes else labels))
    if (classes and alone) or (option is None and not by_default):
        return [*arguments]
    wanted = [*({DEFAULT: None} if alone else {}) | averages] if option else []
    added = [word for average in wanted if average not in arguments for word in ("--average", average)]
    by_class = _decides(arguments) and "--classes" not in arguments
    return [*found, *added, *(word for one in classes for word in ("--classes", one) if by_class)]


def _parts(argument: str) -> list[str]:
    """Return the flag of a metric, or a limit, and its value as two arguments; another argument as it is."""
    flag, equals, value = argument.partition("=")
    return [flag, value] if equals and flag in (*METRIC_FLAGS, *OF_LIMITS) else [argument]


def _may_be_metric(argument: str, before: str) -> bool:
    return (before[:1] != "-" or before in METRIC_FLAGS) and argument[:1] != "-" and not os.path.exists(argument)


def _without_average(text: str) -> tuple[str, str]:
    """Return a metric without the average in its name, and the average; "" where there is none, or a name of ours."""
    return (text, "") if is_metric(text) else without_average(text)


def _decides(arguments: Sequence[str]) -> bool:
    """Return True if a column of the first file has the classes that rows are put into."""
    return "--predicted" in arguments or "predicted" in first_rows(arguments).columns


def _has_averages(name: str) -> bool:
    """Return True for a metric that is an average over classes, where there are several."""
    return is_metric(name) and any(one.form_for_classes is None for _, one in read_text(name))


def _labels(arguments: Sequence[str]) -> list[str]:
    """Return the values of the labels of the first file with columns, where rows have no query; none if unknown."""
    file = next((one for one in arguments if os.path.isfile(one) and columns_in(one)), "")
    label = dict(pairwise(arguments)).get("--label", "label")
    if not file or label not in columns_in(file) or _has_queries(arguments):
        return []
    return scan(file).select(pl.col(label).cast(pl.String).drop_nulls().unique().sort()).collect()[label].to_list()


def _has_queries(arguments: Sequence[str]) -> bool:
    """Return True for rows of queries, as those that have judgments of their own."""
    named = {"--query", "--qrels"} & {*arguments}
    return bool(named) or ("query" in first_rows(arguments).columns and "--no-query" not in arguments)


def with_parameters(name: str, arguments: Sequence[str]) -> list[str]:
    """Return arguments in which flags of parameters are parameters of the metrics that are asked for.

    Where none of these has it, the flag names the metric too, as --cost-fp 5, or --cost fp=5,fn=100.
    """
    asked = _asked(arguments)
    set_here, kept, left = dict[str, dict[str, str]](), list[str](), [*arguments]
    while left and metrics_taken(name):
        flag, equals, value = left[0].partition("=")
        taken = left[1 : 1 + (not equals)]
        while taken and PAIRS.fullmatch(taken[-1]) and PAIRS.fullmatch("".join(left[len(taken) + 1 :][:1])):
            taken = left[1 : len(taken) + 2]
        value = value if equals else ",".join(taken)
        owners = {} if _is_known(name, flag, value, arguments) else _owners(flag, value, asked)
        kept += [] if owners else left[:1]
        left = left[1 + len(taken) if owners else 1 :]
        for metric, parameters in owners.items():
            set_here[metric] = set_here.get(metric, {}) | parameters
    texts = {metric: _with(metric, parameters) for metric, parameters in set_here.items()}
    if not texts or not all(map(is_metric, texts.values())):
        return [*arguments]
    found = [one if os.path.exists(one) else ",".join(texts.get(part, part) for part in parted(one)) for one in kept]
    return [*found, *(text for metric, text in texts.items() if metric not in asked)]


def _is_known(command: str, flag: str, value: str, arguments: Sequence[str]) -> bool:
    """Return True for the flag of an option, or one whose value shows that it means something else."""
    word, gated = flag[2:], any("-worse-than" in one for one in arguments)
    way = RETIRED.get(f"{command} {word}") or RETIRED.get(word)
    other = bool(way and way.value and re.fullmatch(way.value, value)) and "--metric" not in str(way and way.typed)
    known = word.replace("-", "_") in options_of(command) and (flag != "--alpha" or gated)
    return known or (other and flag != "--alpha") or value in first_rows(arguments).columns


def _asked(arguments: Sequence[str]) -> list[str]:
    """Return the metrics that are asked for, and those behind flags that are not known yet."""
    words = [one for one, behind in with_before(arguments) if not os.path.exists(one) and behind not in OF_LIMITS]
    return [part for one in words for part in parted(one) if is_metric(part)]


def _owners(flag: str, value: str, asked: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the metrics whose parameters a flag and its value set, with the parameters; {} for another flag."""
    word = flag[2:].replace("-", "_").lower() if flag[:2] == "--" else ""
    for pattern, ours in PARAMETER_WORDS:
        word = re.sub(pattern, ours, word)
    pairs = [one.partition("=") for one in value.split(",")] if PAIRS.fullmatch(value) else []
    given = {f"{word}_{one}": its for one, _, its in pairs} or {word: value} if word else {}
    found = dict[str, dict[str, str]]()
    for name, its in given.items():
        owners = {one: parameter for one in asked if (parameter := _parameter(name, _family(one), alone=True))}
        owners = owners or {one.name: own for one in REGISTRY.values() if (own := _parameter(name, one, alone=False))}
        if not owners or not VALUE.fullmatch(its):
            return {}
        for one, parameter in owners.items():
            found[one] = found.get(one, {}) | {parameter: its}
    return found


def _family(name: str) -> Metric:
    """Return the metric of a name, or the one with parameters of which it is a case."""
    metric = read_text(name)[0][1]
    return REGISTRY[WITH_PARAMETERS.get(metric.name, metric.name)]


def _parameter(word: str, metric: Metric, *, alone: bool) -> str:
    """Return the parameter that a word names, with the metric before or behind it, or alone; "" for none."""
    for one in metric.options:
        both = [pair for name in (metric.name, *metric.also) for pair in (f"{name}_{one}", f"{one}_{name}")]
        if plain_name(word) in {plain_name(name) for name in both + [one] * alone}:
            return one
    return ""


def _with(metric: str, parameters: Mapping[str, str]) -> str:
    """Return the name of a metric with parameters, before its cutoff."""
    parts = re.fullmatch(r"([^(@]+)(?:\((.*)\))?(@.*)?", metric)
    name, given, cutoff = parts.groups("") if parts else (metric, "", "")
    parameters = {one: f"{float(its[:-1]) / 100:g}" if its[-1:] == "%" else its for one, its in parameters.items()}
    plain = {one: its.title() if LITERAL.fullmatch(its) else f"'{its}'" for one, its in parameters.items()}
    each = ", ".join(filter(None, [given, *(f"{one}={its}" for one, its in plain.items())]))
    return f"{WITH_PARAMETERS.get(plain_name(name), name)}({each}){cutoff}"


def about_parameter(word: str) -> str:
    """Return how a parameter is written that a flag names, or those of a metric that it names; "" for another flag."""
    named = word.replace("-", "_")
    having = [one for one in REGISTRY.values() if named and _parameter(named, one, alone=True)]
    about = [one for one in REGISTRY.values() if one.options and {one.name, f"{one.name}s"} & {*named.split("_")}]
    if not having and not about:
        return ""
    metric, *_ = about or having
    ours = {
        one: metric.examples[one] for one in metric.options if about or one == _parameter(named, metric, alone=True)
    }
    names = f"; {', '.join(one.name for one in having)} have it" * (len(having) > 1)
    return f"parameters of a metric are in its name, as {metric(**ours)}{names}"
