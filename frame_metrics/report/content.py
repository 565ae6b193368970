"""The content of a report: the frames that verbs return, and what else is said of the call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any, TypeAlias

import polars as pl

from frame_metrics.border.shown import versions
from frame_metrics.errors import ColumnError, FrameMetricsError, NotComputableError, check_choice, kind_of
from frame_metrics.inputs import Confusion, Ranking
from frame_metrics.measuring.baseline import is_frame
from frame_metrics.metrics.elsewhere import metric_of
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import read
from frame_metrics.report.cells import here, plain_text, sign_of
from frame_metrics.report.defaults import default_metrics, depth_of, shown_cutoffs
from frame_metrics.report.foremost import foremost, places_of
from frame_metrics.report.summary import summary_of
from frame_metrics.roles.columns import ROLES
from frame_metrics.roles.conventions import Conventions

QUANTILES = ("min", "q0.1", "q0.25", "median", "q0.75", "q0.9", "max")
BINS = 30  # of scores
POINTS = 200  # of a curve of scores
SYSTEMS, RESULTS, MISSED = 4, 10, 5  # whose queries are shown; results of a query; relevant documents it did not find
CLASSES = 50  # of a confusion matrix
NAMES = "name"  # the order of systems as verbs return them
PAIRS, MOVED = 3, 5  # whose queries are shown that differ most; how many of them, either way
# What a convention is where nobody has said anything.
DEFAULTS = {
    "undefined": "as the reference of each metric says",
    "unjudged": "not relevant",
    "duplicates": "an error",
}
OF_RANKINGS = ("rel", "ties", "unjudged", "duplicates")  # conventions that rows without a query do not have


@dataclass(frozen=True, eq=False)
class Ranked:
    """One of the best or worst queries, and its results."""

    system: Any  # None where the frame has no systems
    place: str  # "worst" or "best"
    keys: dict[str, Any]  # of segment and query, by the caller's columns
    value: float
    results: pl.DataFrame | None = None  # those that are shown, as explain() gives them
    more: int = 0  # results that are not shown
    explained: str = ""  # the metric that they contribute to


@dataclass(frozen=True, eq=False)
class Content:
    """Everything that a report shows. Frames are those of the verbs, as polars."""

    title: str
    created: datetime
    kind: str  # of the caller's frame
    asked: Sequence[tuple[str, Metric]]
    ci: float | None
    system: str | None  # the columns of the keys
    by: tuple[str, ...]
    query: tuple[str, ...]
    roles: list[dict[str, str]]
    conventions: list[dict[str, str]]
    results: pl.DataFrame
    audit: pl.DataFrame
    versions: dict[str, str]
    named: bool = False  # whether a baseline was
    sort: str = NAMES  # the metric that systems are sorted by in tables
    summary: pl.DataFrame = field(default_factory=pl.DataFrame)  # sentences, and their figures
    segments: pl.DataFrame | None = None
    comparison: pl.DataFrame | None = None
    differences: pl.DataFrame | None = None  # of each query, by the first metric
    values: pl.DataFrame | None = None  # of each query, by the first metric
    quantiles: pl.DataFrame | None = None
    confusion: pl.DataFrame | None = None
    threshold: float | None = None  # that was said
    best_threshold: pl.DataFrame | None = None
    positive: str = "relevant"  # a word for the label that is to be found
    classes: pl.DataFrame | None = None  # metrics of each of several
    curves: dict[str, pl.DataFrame] = field(default_factory=dict)
    queries: list[Ranked] = field(default_factory=list)
    duels: list[tuple[Ranked, Ranked]] = field(default_factory=list)  # queries on which two systems differ most
    undefined: int = 0  # queries, of each system, without a value of the first metric: neither best nor worst
    absent: list[dict[str, str]] = field(default_factory=list)  # what could not be computed, and why

    @property
    def groups(self) -> list[str]:
        """The columns of system and segment."""
        return [*([self.system] if self.system else []), *self.by]

    @property
    def keys(self) -> list[str]:
        """The columns that name a ranking."""
        return [*self.groups, *self.query]

    def in_words(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The confusion matrix with the caller's word for the classes, where two were made of several values."""
        if frame.schema["actual"] != pl.Boolean or self.positive in ("relevant", "positive"):
            return frame
        words = {True: self.positive, False: f"not {self.positive}"}
        return frame.with_columns(pl.col("predicted", "actual").replace_strict(words, return_dtype=pl.String))

    @property
    def unit(self) -> str:
        """A word for what is counted."""
        return "queries" if self.query else "rows"

    @property
    def first(self) -> str:
        """The metric that queries are ordered by."""
        return self.asked[0][0]

    @cached_property
    def places(self) -> dict[Any, int]:
        """The place of each system where not all can be shown."""
        compared = [] if self.comparison is None or not self.named else [*dict.fromkeys(self.comparison["baseline"])]
        return places_of(self.results, self.system, self.first, compared)

    def foremost_pairs(self) -> list[pl.DataFrame]:
        """Return differences of the pairs that are drawn and listed, those of the foremost systems."""
        if self.differences is None:
            return []
        keys = [name for name in self.groups if name in self.differences.columns]
        pairs = self.differences.drop_nulls("difference").partition_by([*keys, "baseline"], maintain_order=True)
        systems = [pair[self.system][0] if self.system in pair.columns else None for pair in pairs]
        return [pairs[at] for at in foremost(systems, self.places, PAIRS)]

    def moved(self) -> list[pl.DataFrame]:
        """Return the queries on which the systems of each of these pairs differ most, the greatest difference first."""
        pairs = [pair.filter(pl.col("difference") != 0) for pair in self.foremost_pairs()]
        pairs = [pair.sort("difference", descending=True, maintain_order=True) for pair in pairs if len(pair)]
        ends = [(pair.head(MOVED), pair.tail(MOVED)) for pair in pairs]
        return [pair if len(pair) <= 2 * MOVED else pl.concat(end) for pair, end in zip(pairs, ends, strict=True)]

    @property
    def facts(self) -> pl.DataFrame:
        """The rows of the audit that say how much was counted."""
        return self.audit.filter(pl.col("severity") == "fact")

    @property
    def findings(self) -> pl.DataFrame:
        """The other rows of the audit."""
        return self.audit.filter(pl.col("severity") != "fact")


_Asked: TypeAlias = list[tuple[str, Metric]]


@dataclass
class Gathering:
    """Calls of verbs, one after the other; those that cannot be computed are noted and left out."""

    irm: Any
    absent: list[dict[str, str]] = field(default_factory=list)
    arm: str | None = None  # the column of systems that have each their own queries
    system: str | None = None

    def each(self, irm: Any) -> Any:
        """Return what is asked for values: each arm is measured on the queries that it has, as a segment."""
        by = irm.roles.get("by") or []
        own = [by] if isinstance(by, str) else [*by]
        return irm if self.arm is None else irm(system=None, by=[*own, self.arm])

    def here(self, frame: Any) -> pl.DataFrame:
        """Return what a verb returned as polars, systems that are structs as text, since rows are looked up by them."""
        told = here(frame)
        for name in {*told.columns} & {self.system, "baseline"}:
            if isinstance(told.schema[name], pl.Struct):
                told = told.with_columns(pl.Series(name, [*map(plain_text, told[name])]))
        return told

    def apart(self, irm: Any) -> Gathering:
        """Return another gathering, whose notes nobody reads."""
        return Gathering(irm, system=self.system)

    def tried(self, section: str, call: Callable[[], Any]) -> pl.DataFrame | None:
        """Return what a verb returns; None where it says why it cannot."""
        try:
            return self.here(call())
        except FrameMetricsError as error:
            self.absent.append({"section": section, "reason": str(error)})
            return None


def gathered(
    irm: Any,
    played: Any,
    metrics: Sequence[Any],
    *,
    compared: Mapping[str, Any],
    title: str | None,
    ci: float | None,
    queries: int | None,
    sort: str | None = None,
) -> Content:
    """Ask the verbs for everything that a report shows.

    Parameters
    ----------
    irm : the object whose verbs are asked.
    played : what its verbs are handed: the columns, and the conventions.
    metrics : as a verb takes them; none for those that suit the roles.
    compared, ci : options of ``compare``, the baseline among them, and of ``evaluate``.
    title : of the report; None for one that names the metrics.
    queries : how many of the best and of the worst queries of a system are shown; None for the summary alone.
    sort : the metric by which systems are sorted in tables; None for the first, "name" for the order of their names.
    """
    columns, baseline, paired = played.columns, compared["baseline"], compared["paired"]
    if not paired and columns.system is None:
        raise ColumnError("paired=False compares arms; name their column with system=")
    work = Gathering(irm, arm=columns.system if columns.query and not paired else None, system=columns.system)
    asked, plan = _planned(played, metrics, None)
    depth = depth_of(work.each(irm), played.columns)
    if not metrics:
        asked, plan = _planned(played, metrics, depth)
    if sort is not None and asked:
        check_choice("sort", sort, [*(name for name, _ in asked), NAMES])
    asked, results = _evaluated(work, asked, ci=ci, **({"margins": True} if columns.by else {}))
    if not asked:
        asked = [(name, metric_of(name)) for name in results["metric"].unique(maintain_order=True)]
    if not asked:
        raise ColumnError("the frame has no rows, so its metrics have no names")
    segments = None
    if columns.by:
        segments = results.filter(pl.col("total_over").is_null()).drop("total_over")
        whole = ", ".join(columns.by)
        results = results.filter(pl.col("total_over") == whole).drop("total_over", *columns.by)
    saved = {"baseline": baseline} if is_frame(baseline) else {}
    audit = work.here(work.each(irm).audit(**saved))
    content = Content(
        title=title or f"Report on {', '.join(name for name, _ in asked[:3])}{' and more' if asked[3:] else ''}",
        created=datetime.now(UTC).replace(microsecond=0),
        kind=kind_of(irm.frame),
        asked=asked,
        ci=ci,
        system=columns.system,
        by=columns.by,
        query=columns.query,
        roles=_roles(played, plan),
        conventions=_conventions(plan, irm.roles),
        results=results,
        segments=segments,
        audit=audit,
        versions=versions(),
        named=baseline is not None,
        sort=sort or asked[0][0],
        positive=_word(irm.roles.get("positive"), columns.query),
        threshold=said if isinstance(said := irm.roles.get("threshold"), int | float) else None,
    )
    compared = {**compared, "ci": ci or 0.95}
    content = _compared(content, work, compared)
    content = replace(content, summary=summary_of(content, work, _all_segments(content, work), compared))
    if queries is None:
        return content
    content = _of_queries(_differing(content, work, compared), work, queries, plan)
    content = _of_decisions(content, work, plan)
    return replace(content, curves=_curves(content, work, plan, depth), absent=work.absent)


def _evaluated(work: Gathering, asked: _Asked, **options: Any) -> tuple[_Asked, pl.DataFrame]:
    """The metrics that the grades determine, and their values; of the others, if these are not all, it is noted why."""
    irm = work.each(work.irm)
    try:
        return asked, work.here(irm.evaluate(*(name for name, _ in asked), **options))
    except NotComputableError:
        some = [one for one in asked if work.tried(one[0], partial(irm.evaluate, one[0])) is not None]
        if not some:
            raise
        return some, work.here(irm.evaluate(*(name for name, _ in some), **options))


def _planned(played: Any, metrics: Sequence[Any], depth: int | None) -> tuple[list[tuple[str, Metric]], Any]:
    """The metrics that are asked for, and the columns and conventions that they are computed with."""
    if played.columns.value:
        return [], None
    judged = None if played.beside is None else played.judgments[1]
    given = [*metrics]
    if not given:
        names = {} if played.beside is None else dict.fromkeys(played.beside.names())
        graded = judged is not None and (judged["grade"] or ("grade" in names and not judged["label"]))
        said = played.roles.get("threshold") is not None
        weighted = played.roles.get("propensity") is not None
        given = [*default_metrics(played.columns, depth, graded=bool(graded), threshold=said, weighted=weighted)]
    asked = read(given)
    return asked, played.asking(replace(played.needs_of(asked), weighs=True))


def _word(positive: Any, query: Sequence[str]) -> str:
    """The caller's word for what is to be found, where it is a class."""
    return plain_text(positive) if isinstance(positive, str) else "relevant" if query else "positive"


def _compared(content: Content, work: Gathering, compared: Mapping[str, Any]) -> Content:
    """Add how systems differ."""
    if not content.named and (content.system is None or content.results[content.system].n_unique() < 2):
        return content
    irm = _whole(content, work)
    names = [] if irm.roles.get("value") is not None else [name for name, _ in content.asked]
    if not compared["paired"]:  # which was asked for, so that what does not allow it is an error
        return replace(content, comparison=work.here(irm.compare(*names, **compared)))
    return replace(content, comparison=work.tried("comparison", lambda: irm.compare(*names, **compared)))


def _differing(content: Content, work: Gathering, compared: Mapping[str, Any]) -> Content:
    """Add on which queries systems differ."""
    if content.comparison is None or not content.query or not compared["paired"]:
        return content
    irm = _whole(content, work.apart(work.irm))
    names = [] if irm.roles.get("value") is not None else [content.first]
    each = work.tried("differences", lambda: irm.compare(*names, **compared, per_query=True))
    if each is not None:
        each = each.filter(pl.col("metric") == content.first)
    return replace(content, differences=each)


def _whole(content: Content, work: Gathering) -> Any:
    """The irm without segments, unless a query stands in several, whose rankings would then be one."""
    several = content.audit.filter(pl.col("check") == "queries in several segments")["n"].sum()
    if not content.by:
        return work.irm
    if several:
        reason = "some queries stand in several segments, each with a ranking of its own"
        work.absent.append({"section": "comparison over all segments", "reason": reason})
        return work.irm
    return work.irm(by=None)


def _all_segments(content: Content, work: Gathering) -> Any:
    """The irm that gives values of all segments together, of each arm by itself."""
    return work.each(_whole(content, work.apart(work.irm)))


def _curves(content: Content, work: Gathering, plan: Any, depth: int | None) -> dict[str, pl.DataFrame]:
    """Curves: of metrics by cutoff, or of the scores of rows without a query."""
    if plan is None:
        return {}
    columns, found = plan.played, {}
    if content.query:
        return _by_cutoff(content, work, depth) if columns.score or columns.rank else {}
    if columns.score is None or columns.class_scores:
        return {}
    irm = work.irm(by=None, threshold=None) if content.by else work.irm(threshold=None)
    options = {"roc": {"points": POINTS}, "pr": {"points": POINTS}, "calibration": {}, "distribution": {"bins": BINS}}
    for kind, thin in options.items():
        curve = work.tried(f"curve {kind}", partial(irm.curve, kind, **thin))
        if curve is not None:
            found[kind] = curve
    return found


def _by_cutoff(content: Content, work: Gathering, depth: int | None) -> dict[str, pl.DataFrame]:
    """Curves of metrics by cutoff."""
    cut = [metric for _, metric in content.asked if metric.k is not None]
    kinds = [*dict.fromkeys(f"{replace(metric, cutoff=None)}@k" for metric in cut)]
    if not kinds:
        return {}
    top = max(10, *(int(metric.k or 0) for metric in cut))
    irm, cutoffs = _all_segments(content, work), shown_cutoffs(top, depth)
    curve = work.tried("curves", lambda: irm.curve(kinds, cutoffs=cutoffs))
    if curve is None:
        return {}
    return {"cutoffs": curve if len(kinds) > 1 else curve.with_columns(metric=pl.lit(kinds[0]))}


def _of_decisions(content: Content, work: Gathering, plan: Any) -> Content:
    """Add the confusion matrix of rows without a query, and where there are several classes, metrics of each."""
    if plan is None or content.query:
        return content
    columns, irm = plan.played, work.irm(by=None) if content.by else work.irm
    if columns.score and not columns.class_scores:
        best = work.apart(irm).tried("threshold", lambda: irm(threshold=None, predicted=None).best_threshold("f1"))
        content = replace(content, best_threshold=best)
    confusion, several = None, bool(columns.class_scores)
    if columns.predicted is not None or plan.conventions.threshold is not None:
        confusion = work.tried("confusion matrix", irm.confusion)
    if confusion is not None:
        n = confusion["actual"].n_unique()
        several = several or n > 2
        if n > CLASSES:
            reason = f"there are {n:,} classes, and at most {CLASSES} can be told apart; confusion() returns all"
            work.absent.append({"section": "confusion matrix", "reason": reason})
            confusion = None
    names = [name for name, _ in content.asked]
    classes = work.tried("classes", lambda: irm.per_class(*names, layout="wide")) if several else None
    return replace(content, confusion=confusion, classes=classes)


def _of_queries(content: Content, work: Gathering, queries: int, plan: Any) -> Content:
    """Add how the first metric is spread over queries, and the best and worst of them."""
    if not content.query:
        return content
    irm = work.each(work.irm)
    names = [] if plan is None else [content.first]
    values = work.tried("queries", lambda: irm.per_query(*names))
    if values is None:
        return content
    values = values.filter(pl.col("metric") == content.first)
    spread = None  # where queries have weights, quantiles would not look at them
    if not irm.roles.get("weight"):
        whole = _all_segments(content, work)
        spread = work.tried("quantiles", lambda: whole.evaluate(*names, average=[*QUANTILES]))
    spread = None if spread is None else spread.filter(pl.col("metric") == content.first)
    defined = values.with_columns(pl.when(~pl.col("undefined")).then("value"))
    chosen = _extremes(content, defined, queries)
    undefined = defined["value"].null_count()
    content = replace(content, values=values, quantiles=spread, queries=chosen, undefined=undefined)
    if plan is None or not chosen:
        return content
    duels = [side for pair in _duels(content) for side in pair]
    content = replace(content, queries=_with_results(content, work, plan, chosen))
    sides = iter(_with_results(content, work, plan, duels))
    return replace(
        content, duels=[pair for pair in zip(sides, sides, strict=True) if pair[0].explained and pair[1].explained]
    )


def _duels(content: Content) -> list[tuple[Ranked, Ranked]]:
    """The queries on which two systems of the frame differ most, as each has them."""
    found = []
    for pair in content.moved():
        keys = [name for name in (*content.by, *content.query) if name in pair.columns]
        for row in pair.iter_rows(named=True):
            sides = ((row.get(str(content.system)), row["value"]), (row["baseline"], row["baseline_value"]))
            if row["baseline"] in content.places:
                ours, theirs = (Ranked(one, "moved", {name: row[name] for name in keys}, value) for one, value in sides)
                found.append((ours, theirs))
    return found


def _extremes(content: Content, values: pl.DataFrame, n: int) -> list[Ranked]:
    """The worst and best queries of each system; a query is not in both, and one without a value in neither."""
    if not n or not sign_of(content.first):
        return []
    known, found = values.drop_nulls("value"), []
    parts = known.partition_by(content.system, maintain_order=True) if content.system else [known]
    systems = [part[content.system][0] if content.system else None for part in parts]
    for at in foremost(systems, content.places, SYSTEMS):
        rows = parts[at].sort(pl.col("value") * sign_of(content.first), maintain_order=True)
        worst = rows.head(min(n, (len(rows) + 1) // 2))
        best = rows.tail(min(n, len(rows) // 2)).reverse()
        for place, some in (("worst", worst), ("best", best)):
            keys = some.select(*content.by, *content.query).iter_rows(named=True)
            found += [Ranked(systems[at], place, *one) for one in zip(keys, some["value"], strict=True)]
    return found


def _with_results(content: Content, work: Gathering, plan: Any, chosen: list[Ranked]) -> list[Ranked]:
    """Add their results to queries, as explain() gives them, of the first metric that it can take apart."""
    taken = [(name, metric) for name, metric in content.asked if metric.input in (Ranking, Confusion)]
    columns = plan.played
    if not chosen or not taken or not (columns.score or columns.rank) or set(columns.made) & {*content.query}:
        return chosen
    small = _small(content, work.each(work.irm), plan, chosen)
    return [_explained(one, content, work.apart(small), [name for name, _ in taken]) for one in chosen]


def _explained(one: Ranked, content: Content, small: Gathering, names: Sequence[str]) -> Ranked:
    """Add its results to a query, by the first of some metrics that can be taken apart; without any, none."""
    value = [one.keys[name] for name in content.query]
    for name in names:
        try:
            told = small.here(small.irm.explain(name, query=value[0] if len(value) == 1 else value))
        except FrameMetricsError:
            continue
        keys = {**one.keys, **({content.system: one.system} if content.system else {})}
        same = [pl.col(key).eq_missing(pl.Series([its], dtype=told.schema[key])) for key, its in keys.items()]
        told = told.filter(*same)
        ranked, missed = (told.filter(pl.col("rank").is_null() == null) for null in (False, True))
        shown = pl.concat([ranked.head(RESULTS), missed.head(MISSED)]).drop(*content.keys)
        return replace(one, results=shown, more=len(told) - len(shown), explained=name)
    return one


def _small(content: Content, irm: Any, plan: Any, chosen: Sequence[Ranked]) -> Any:
    """The irm of the rows of the queries that are shown, and their judgments; the frame is read once for them."""
    judged = plan.judged
    names = [*chosen[0].keys]
    theirs = {} if judged is None else dict(zip(content.query, judged.query, strict=True))
    theirs |= {} if judged is None else {name: name for name in judged.by if name in names}
    types = {} if content.values is None else {name: content.values.schema[name] for name in names}
    keys = pl.DataFrame([one.keys for one in chosen], schema=types)

    def rows_of(border: Any, columns: Sequence[str], called: Mapping[str, str]) -> pl.DataFrame:
        named = keys.select(pl.col(name).alias(to) for name, to in called.items())
        return border.rows_of(columns, named.unique())

    # Grades of some queries say less of their scale than those of all.
    said = {"rel": plan.conventions.rel} if "rel" not in irm.roles and plan.played.grade else {}
    own = {name: name for name in names if name in plan.available}
    small = type(irm)(rows_of(plan.border, plan.played.needed, own), **{**irm.roles, **said})
    return small if judged is None else small.judge(rows_of(plan.beside, plan.to_read, theirs), **irm._judgments[1])


def _roles(played: Any, plan: Any) -> list[dict[str, str]]:
    """The part that each column plays, and whether it was found by its name."""
    found, rows = played.found, []
    for role in ROLES:
        column = getattr(played.columns, role)
        if not column or hasattr(Conventions, role):  # which have a list of their own
            continue
        text = column if isinstance(column, str) else ", ".join(map(_paired, column))
        rows.append({"role": role, "column": text, "source": "found by name" if role in found else "named"})
    if plan is not None and plan.judged is not None:
        for role in ("query", "doc", "grade", "label", "annotator", "subtopic"):
            column = getattr(plan.judged, role)
            if column:
                text = column if isinstance(column, str) else ", ".join(column)
                rows.append({"role": f"{role} of the judgments", "column": text, "source": "beside the frame"})
    return rows


def _paired(column: Any) -> str:
    return f"{column[0]}: {column[1]}" if isinstance(column, tuple) else str(column)


def _conventions(plan: Any, roles: Mapping[str, Any]) -> list[dict[str, str]]:
    """The conventions in force: those that were said, and what holds where the field disagrees."""
    if plan is None:
        return []
    rows = []
    for name, value in vars(plan.conventions).items():
        said = roles.get(name) is not None or (name == "several" and value is not None)
        if not said and (name not in (*DEFAULTS, *OF_RANKINGS) or (name in OF_RANKINGS and not plan.columns.query)):
            continue
        text = (
            DEFAULTS.get(name, "")
            if value is None
            else ", ".join(map(str, value))
            if isinstance(value, tuple)
            else str(value)
        )
        rows.append({"convention": name, "value": text, "source": "said" if said else "default"})
    return rows
