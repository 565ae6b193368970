"""Names of metrics, ours and the field's, read as metrics."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias

from frame_metrics.errors import BadValueError, FrameMetricsError, UnknownNameError, cut, did_you_mean, nearest, quote
from frame_metrics.inputs import name_of_function
from frame_metrics.metrics.foreign_names import average_in, called_here, share_in
from frame_metrics.metrics.metric import REGISTRY, TAKES_TOP, Metric

# Spellings that are more than another name, read before our own: a pattern of the whole text, and what it stands for.
SPELLINGS = (
    (r"(ndcg|map)_cut[_.](\d[\d,]*)", r"\1@\2"),
    (r"(p|recall|success|relative_p)[_.](\d[\d,]*)", r"\1@\2"),
    (r"iprec_at_recall[_.](\.?\d.*)", r"iprec@\1"),
    (r"rprec_mult[_.](\d[\d.]*)", r"rprec_mult(multiple=\1)"),
    (r"utility\.([^,]+),([^,]+),([^,]+),([^,]+)", r"utility(tp=\1, fp=\2, fn=\3, tn=\4)"),
    (r"(?:11pt_avg|iprec_avg)\.((?:\.?\d[\d.]*)(?:,\.?\d[\d.]*)*)", r"iprec_avg(recalls=[\1])"),
    (r"unj[_.](\d[\d,]*)", r"unjudged@\1"),
    (r"rbp_resid(?!ual)(@.*)?", r"rbp_residual(p=0.9)\1"),
    (r"rbp\.(\d+)", r"rbp(p=0.\1)"),
    (r"(ndcg|dcg)_burges(@.*)?", r"\1(gain='exp')\2"),
    (r"numret(\(rel=.*\))(@.*)?", r"num_rel_ret\1\2"),
    (r"f(?!1(?![\d.]))(\d*\.?\d+)(?:[ _-]?(?:score|measure))?(@.*)?", r"fbeta(beta=\1)\2"),
    (r"bing", "bin_g"),
    (r"top[ _-]?(\d+)[ _-]accuracy", r"top_k_accuracy@\1"),
    (r"max(?:imum)?[ _-]calibration[ _-]error", "ece(norm='max')"),
    (r"max(?:imum)?[ _-]calibration[ _-]error\((.+)\)", r"ece(norm='max', \1)"),
    (r"(?:ctr|click[ _-]?through[ _-]?rate)(@.+| at \d.*)", r"success\1"),
    (r"gini(@.+| at \d.*)", r"catalogue_gini\1"),
    (r"precision at recall (\.?\d.*)", r"precision_at_recall@\1"),
    (r"(.*\S) at (\d[\d,]*)", r"\1@\2"),
)
# Names of parameters elsewhere, and what they are here. ir_measures' nDCG takes dcg= and gains=.
PARAMETERS = {("ndcg", "gains"): "gain", ("dcg", "gains"): "gain"}
PARAMETERS |= {(name, "T"): "target" for name in ("inst", "insq", "bpm", "nerr11")} | {("u_measure", "L"): "length"}
OF_USERS = ("sdcg", "inst", "insq", "bpm", "nerr8", "nerr9", "nerr10", "nerr11")
PARAMETERS |= {(name, "max_rel"): "max_grade" for name in OF_USERS}
DCG_GAINS = {"log2": "linear", "exp-log2": "exp"}
G = "g_measure (the mean of precision and recall)", "g_trec (trec_eval's gain measure)"
LR = "lr_positive (LR+)", "lr_negative (LR-)"
FM = "g_measure (of precision and recall)", "the index of pairs of rows, which is not among our metrics"
PAIRS = (
    "accuracy (the share of documents that are decided rightly)",
    "ir_measures' Accuracy (the share of pairs in the right order), which is not among our metrics and near roc_auc",
)
POWER = "recall (of decisions)", "the chance that a test finds a difference, which plan(detect=, power=) takes"
CTR = "success (the share of searches with a click; so is ctr@10)", "precision (clicks over results shown, of a query)"
TWO_MEANINGS = {"g": G, "lr": LR, "likelihoodratio": LR, "power": POWER, "ctr": CTR, "clickthroughrate": CTR}
TWO_MEANINGS |= dict.fromkeys(("fowlkesmallows", "fowlkesmallowsscore", "fowlkesmallowsindex"), FM)
AS_SPELT = {"Accuracy": PAIRS}  # in this case alone
QUOTE = "\N{RIGHT SINGLE QUOTATION MARK}"
AVERAGES_OF_PREFIXES = {"gm_": "gmean", "sn_": "micro"}  # prefixes of names that mean an average
MOST_CUTOFFS = 1000  # cutoffs of one range
Asked: TypeAlias = Sequence[tuple[str, Metric]]
Metrics: TypeAlias = str | Metric | Sequence[str | Metric]  # what a verb takes: one, or a list of some
SEE_LIST = "frame_metrics.list_metrics() lists them"
OF_LISTS = "of what lists show there are catalogue_coverage, distributional_coverage and catalogue_gini"
DECIDED = f"coverage is the share of rows with a prediction, and has no cutoff; {OF_LISTS}"
DIVERSE = ("diversity", "aggregatediversity", "catalogdiversity", "cataloguediversity", "itemdiversity")


@cache
def plain_name(text: str) -> str:
    """Return a name as it is compared: in small letters, without separators between letters or digits."""
    return re.sub(r"(?<=[a-z0-9'])[\s_-]+(?=[a-z0-9])", "", text.strip().lower().replace(QUOTE, "'"))


def aliases(metrics: Iterable[Metric]) -> dict[str, str]:
    """Return every name of metrics as it is compared, and the metric it means."""
    return {plain_name(other): m.name for m in metrics for other in (m.name, *m.also)} | {"gauc": "roc_auc"}


def check_some(metrics: Sequence[Any]) -> None:
    """Raise if no metric was asked for."""
    if not metrics:
        raise BadValueError("no metric was asked for; name one, as 'ndcg@10'").offering(metric=...)


def read(asked: Sequence[Metrics]) -> list[tuple[str, Metric]]:
    """Read metrics as the caller wrote them, one by one or in a list: texts, or metrics as values.

    Returns
    -------
    The name to print and the metric, in the order asked for.
    """
    metrics: list[tuple[str, Metric]] = []
    items = [one for item in asked for one in (item if isinstance(item, list | tuple) else [item])]
    for item in items:
        if isinstance(item, Metric):
            metrics.append((str(item), item))
        elif isinstance(item, str):
            metrics.extend(read_text(item))
        else:
            raise BadValueError(f"a metric is a name or a frame_metrics.metrics value, not {_what(item)}")
    check_some(metrics)
    if len(dict(metrics)) == len(metrics):
        return metrics
    names = [name for name, _ in metrics]
    twice = next(name for name in names if names.count(name) > 1)
    one, *others = (metric for name, metric in metrics if name == twice)
    ways = "" if all(one == other for other in others) else ", for metrics that differ; give each a name of its own"
    raise BadValueError(f"{quote(twice)} is asked for twice{ways}")


def _what(item: Any) -> str:
    """Return what was given as a metric and is none; of a function, with the way to make it one."""
    if not callable(item) or isinstance(item, type):
        return quote(item)
    return (
        f"the function {name_of_function(item)}; a function of yours becomes one with the decorator "
        "@frame_metrics.metric(range=(0, 1)), as def name(run: frame_metrics.Ranking), which returns an array with a "
        "number for each query, as run.total((run.grade > 0) & (run.rank <= 3)) / 3: then ask for it by name. "
        "'Own metrics' in the documentation has examples"
    )


@cache
def read_text(text: str) -> tuple[tuple[str, Metric], ...]:
    """Read one text, which may name several cutoffs."""
    plain = text.strip()
    if plain.lower().startswith(tuple(AVERAGES_OF_PREFIXES)):
        return _averaged(text, plain)
    if several := _several(plain):
        return tuple(pair for one in several for pair in read_text(one))
    name, args, cutoff = _parted(text, _respelled(plain))
    metric = _named(text, name, args)
    if cutoff is None:
        return ((text, metric),)
    if metric.name == "coverage":
        raise BadValueError(f"{quote(text)}: {DECIDED}")
    if (share := share_in(cutoff.strip())) and metric.name in TAKES_TOP:
        raise BadValueError(f"{quote(text)}: a cutoff is a number of results; a share is {metric.name}(top={share})")
    cutoffs = _cutoffs(text, cutoff)
    if len(cutoffs) == 1 and ".." not in cutoff:
        return ((text, metric @ cutoffs[0]),)
    stem = plain[: plain.rindex("@") + 1] if "@" in plain else plain.removesuffix(cutoff)
    return tuple((f"{stem}{k}", metric @ k) for k in cutoffs)


def _parted(text: str, plain: str) -> tuple[str, str | None, str | None]:
    """The name, the parameters with their brackets, and the cutoff; None for what is not there."""
    name = re.split(r"[(@]", plain, maxsplit=1)[0]
    rest, args = plain[len(name) :], None
    if rest.startswith("("):
        args, _, rest = rest.rpartition(")")
        args, rest = f"{args})", rest.strip()
    if not name.strip() or args == ")" or (rest and not rest.startswith("@")):
        raise UnknownNameError(f"{quote(text)} does not read as a metric: name(parameter=value)@cutoff")
    return name.strip(), args, rest[1:] if rest else None


def _several(plain: str) -> list[str]:
    """The metrics that trec_eval reads from a text with several parameters."""
    parts = re.fullmatch(r"(rprec_mult[_.])(\d[\d.]*(?:,\d[\d.]*)+)", plain, re.IGNORECASE)
    return [parts[1] + one for one in parts[2].split(",")] if parts else []


def _averaged(text: str, plain: str) -> tuple[tuple[str, Metric], ...]:
    """The metrics after the prefix gm_, averaged geometrically, or sn_, self-normalised."""
    average, rest = AVERAGES_OF_PREFIXES[plain[:3].lower()], plain[3:].strip()
    twice = rest.lower().startswith(tuple(AVERAGES_OF_PREFIXES))  # an error at once: there may be a thousand prefixes
    metrics = () if twice else read_text(plain[3:])
    if twice or metrics[0][1].average is not None:
        raise UnknownNameError(f"{quote(text)}: {quote(plain[3:])} is an average already")
    if average == "micro" and not metrics[0][1].off_policy:
        raise UnknownNameError(
            f"{quote(text)}: only sips, iips and rips are self-normalised; pass average='micro' of others"
        )
    return tuple((plain[:3] + name, replace(metric, average=average)) for name, metric in metrics)


def _respelled(text: str) -> str:
    """A text in our own spelling, where it is a pattern of another tool."""
    if gains := re.fullmatch(r"ndcg\.(\d[\d.]*=[\d.]+(?:,\d[\d.]*=[\d.]+)*)", text, re.IGNORECASE):
        return f"ndcg(gain={{{gains[1].replace('=', ': ')}}})"
    if squared := re.fullmatch(r"set_f\.(.+)", text, re.IGNORECASE):
        return f"set_f(beta={_number(text, squared[1])})"
    for pattern, ours in SPELLINGS:
        if re.fullmatch(pattern, text, re.IGNORECASE):
            text = re.sub(pattern, ours, text, flags=re.IGNORECASE)
    return text


def _cutoffs(text: str, given: str) -> list[float]:
    if "(" in given:
        raise BadValueError(f"{quote(text)}: the cutoff comes last, as in ndcg(gain='exp')@10")
    return [cutoff for part in given.split(",") for cutoff in _cutoffs_of(text, part)]


def _cutoffs_of(text: str, part: str) -> Sequence[float]:
    """One cutoff, or those of a range."""
    ends = [_number(text, end) for end in part.split("..")] if re.search(r"\d\s*\.\.", part) else []
    if not ends:
        return [_number(text, part)]
    if len(ends) != 2 or not all(isinstance(end, int) for end in ends) or not 1 <= ends[0] < ends[1]:
        raise BadValueError(
            f"{quote(text)}: {quote(part.strip())} is not a range of rising whole numbers from 1, as 1..20"
        )
    if ends[1] - ends[0] >= MOST_CUTOFFS:
        raise BadValueError(f"{quote(text)}: {quote(part.strip())} has more than {MOST_CUTOFFS} cutoffs")
    return range(int(ends[0]), int(ends[1]) + 1)


def _number(text: str, part: str) -> float:
    try:
        return int(part) if re.fullmatch(r"\s*[+-]?\d+\s*", part) else float(part)
    except ValueError:
        if "," in text and re.match(r"\s*[a-zA-Z]", part):
            raise _with_comma(text) from None
        raise BadValueError(f"{quote(text)}: the cutoff {quote(part.strip())} is not a number") from None


def _with_comma(text: str) -> BadValueError:
    """The error for several metrics in one text."""
    names = ", ".join(quote(one.strip()) for one in text.split(","))
    return BadValueError(
        f"{quote(text)} names several metrics; give each by itself, as evaluate({names}). Only cutoffs have commas, as "
        "'ndcg@10,20'"
    )


def _named(text: str, name: str, args: str | None) -> Metric:
    known, given = aliases(REGISTRY.values()), plain_name(name)
    if meanings := AS_SPELT.get(name, TWO_MEANINGS.get(given)):
        problem = f"{quote(name)} means two things: {', or '.join(meanings)}; write the one you mean"
        raise UnknownNameError(problem).offering(
            {name: [first for one in meanings if (first := one.split()[0]) in REGISTRY]}
        )
    if given not in known:
        if "," in name:
            raise _with_comma(text)
        raise UnknownNameError(f"there is no metric {quote(name)}{_nearest(name)}")
    metric = REGISTRY[known[given]]
    if given == "gauc":
        metric = replace(metric, average="rows")
    params = _parameters(text, metric.name, args) if args else {}
    if given == "setf" and "beta" in params:  # squared, as in trec_eval, and in ir_measures, which asks trec_eval
        if not isinstance(params["beta"], int | float) or not params["beta"] >= 0:
            raise BadValueError(f"{quote(text)}: beta squared is not 0 or more")
        root = params["beta"] ** 0.5
        params["beta"] = int(root) if root.is_integer() else root
    if metric.name == "precision" and params.pop("relative", False) is True:
        metric = REGISTRY["relative_precision"]
    return metric(**params) if params else metric


def _nearest(name: str) -> str:
    """A hint that names the metric nearest by spelling, or else where the metrics are listed."""
    known, given = aliases(REGISTRY.values()), plain_name(name)
    if given in DIVERSE:
        return f"; {OF_LISTS}"
    if called := called_here(given, _of_each_class(known)):
        return called
    with_cutoff = re.fullmatch(r"(.*?)(?:at|top)?(\d+)", given)
    if with_cutoff and with_cutoff[1] in known and REGISTRY[known[with_cutoff[1]]].at is not None:
        return did_you_mean(f"{known[with_cutoff[1]]}@{with_cutoff[2]}")
    # Of a short name only letters that changed places are a mistake: it is near to many others.
    best = nearest(given, (name for name in known if len(given) > 3 or sorted(name) == sorted(given)))
    if best is None:
        return f"; {SEE_LIST}"
    meant = REGISTRY[known[best]]
    return did_you_mean(next((name for name in (meant.name, *meant.also) if plain_name(name) == best), best))


def _of_each_class(known: Mapping[str, str]) -> dict[str, str]:
    """The names of metrics that are averages over classes, where there are several, and the metrics."""
    return {one: its for one, its in known.items() if REGISTRY[its].form_for_classes is None}


def without_average(text: str) -> tuple[str, str]:
    """Return a text without the average over classes in its name, as f1 of macro_f1, and the average; "" for none."""
    name = re.split(r"[(@]", text, maxsplit=1)[0]
    of, average = average_in(plain_name(name), _of_each_class(aliases(REGISTRY.values())))
    return (f"{of}{text[len(name) :]}", average) if of else (text, "")


def _parameters(text: str, name: str, args: str) -> dict[str, Any]:
    given: dict[str, Any] = {}
    words: dict[str, str] = {}
    for word, value in _words(text, args):
        key = PARAMETERS.get((name, word), word)
        if name in OF_USERS and word == "min_rel":
            if value != 0:
                raise BadValueError(f"{quote(text)}: min_rel= is 0 here; pass gain= with a gain for each grade")
            continue
        if name in ("ndcg", "dcg", "sdcg") and word == "dcg" and isinstance(value, str) and value in DCG_GAINS:
            key, value = "gain", DCG_GAINS[value]
        if key in words:
            both = f"{words[key]}= and {word}= mean the same; pass one of them"
            raise BadValueError(f"{quote(text)}: {f'{word}= is given twice' if words[key] == word else both}")
        given[key], words[key] = value, word
    if name == "recall" and "recall" in given:
        raise UnknownNameError(f"{quote(text)}: recall takes no recall level")
    return given


def _words(text: str, args: str) -> list[tuple[str, Any]]:
    """The parameters in brackets as they are written, and their values."""
    try:
        call = ast.parse(f"f{args}", mode="eval").body
        # Python reads (p=0.5)(p=0.9) and (p=0.5).x(p=0.9) as calls too, of something else than a name.
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise ValueError
        return [(str(word.arg), _literal(word.value)) for word in call.keywords]
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise BadValueError(
            f"{quote(text)}: the parameters do not read as (name=value, ...){_way(text, args)}"
        ) from None


def _way(text: str, args: str) -> str:
    """The way out for parameters that do not read: a function as a value, or quotes round a text."""
    if "=<" in args:
        return "; a function is given with the metric as a value, as frame_metrics.metrics.ndcg(gain=f)"
    quoted = re.sub(r"(=\s*)([A-Za-z_][\w-]*)(?=\s*[,)])", r"\1'\2'", text)
    try:
        return f"; a text needs quotes: {cut(quoted)}" if quoted != text and read_text(quoted) else ""
    except FrameMetricsError:
        return ""


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_literal(node.operand)
    if isinstance(node, ast.Name) and node.id == "inf":
        return float("inf")
    value = ast.literal_eval(node)
    if isinstance(node, ast.Dict) and len(value) < len(node.keys):
        raise ValueError
    return value
