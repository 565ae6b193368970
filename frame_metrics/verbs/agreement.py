"""The verbs agreement and disagreements: how well annotators agree, and on which documents they do not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.annotators import ANY_JUDGMENT
from frame_metrics.data.log import Log
from frame_metrics.errors import (
    BadValueError,
    ColumnError,
    check_bool,
    check_choice,
    check_key_names,
    closest,
    listed,
    quote,
)
from frame_metrics.fast.codes import codes
from frame_metrics.fast.equal_rows import run_codes
from frame_metrics.hidden import ANNOTATOR
from frame_metrics.inputs import Array
from frame_metrics.inputs.rows import NONE
from frame_metrics.keys.groups import as_text
from frame_metrics.keys.ids import check_castable
from frame_metrics.measuring.annotators import PAIR, AnnotatorPairs, pair_annotators
from frame_metrics.measuring.results import IntervalOptions
from frame_metrics.plan.call import Call, bind
from frame_metrics.plan.declared import AGREEMENT
from frame_metrics.plan.needs import Needs
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import Source, answer_of, judgments_alone
from frame_metrics.roles.columns import judgment_columns_in
from frame_metrics.roles.roles import names_as_text
from frame_metrics.stats.agreement import Judgments
from frame_metrics.stats.exact import expanded_level
from frame_metrics.stats.resampling import NUMBERS_AT_ONCE, Units, draws, enough_resamples, percentile_interval

MeasurementLevel: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]
MEASURES = ("kappa", "weighted_kappa", "equal", "ac1", "fleiss_kappa", "alpha")
TYPES_WITH_LONG_TEXTS = (int, Fraction, Collection)  # values whose texts may be long, or refused by Python
MEASURES_OF_REFERENCE = ("sensitivity", "specificity", "bias")  # measures of an annotator against the reference
RANGE_COLUMNS = {"n": pl.Int64, "lowest": pl.Float64, "highest": pl.Float64, "difference": pl.Float64}


@dataclass(frozen=True, kw_only=True)
class AgreementOptions(IntervalOptions):
    """Options of ``agreement``, which documents them."""

    reference: Any = None
    by: str | Sequence[str] | None = None
    per_class: bool = False
    level: MeasurementLevel | None = None

    def __post_init__(self) -> None:
        """Raise for values that the options cannot have; nothing is read."""
        super().__post_init__()
        check_bool("per_class", self.per_class)
        if self.level is not None:
            check_choice("level", self.level, get_args(MeasurementLevel))

    @property
    def schema(self) -> dict[str, Any]:
        """The columns that are not keys, and their types."""
        ends = ("",) if self.ci is None else ("", "_low", "_high")
        names = (*MEASURES, *(MEASURES_OF_REFERENCE if _names_in(self.reference) else ()))
        of_class = {"class": pl.Float64} if self.per_class else {}
        numbers = {f"{name}{end}": pl.Float64 for name in names for end in ends}
        return of_class | {"n": pl.Int64} | numbers


def agreement(plan: Plan, options: AgreementOptions) -> Any:
    """Implement ``irm.agreement``, whose docstring has the parameters."""
    keys, references = _names_in(options.by), _names_in(options.reference)
    call = _with_segments_read(_annotated(plan), keys)
    check_key_names(keys, (*PAIR, *options.schema))

    def compute(source: Source) -> Answer:
        source = judgments_alone(source)
        log = source.log()
        each, value = _single_judgments(log)
        if options.level == "ratio":
            _check_ratios(each[value])
        against = _references(each, references)
        parts = _by_segment(each, log, source, keys)
        classes = [*np.unique(each[value])] if options.per_class and len(each) else [None]
        firsts = [part["row"][0] for part in parts] if len(each) else [NONE]
        del each  # so that the judgments are held once
        # Pair the annotators of each segment, and measure each pair.
        compared = [_paired(parts.pop(0), value, log, against, options.level) for _ in range(len(parts))]
        tables = [_table(whole, one, at, options) for at, whole in enumerate(compared) for one in classes]
        table = pl.concat(tables).sort("segment", "row", maintain_order=True)
        rows = dict.fromkeys(keys, np.array(firsts)[table["segment"]]) | {name: table[name].to_numpy() for name in PAIR}
        rows = {name: log.rows(np.where(at < 0, at, at + log.n_rows)) for name, at in rows.items()}
        return Answer(rows, {name: table[name] for name in options.schema}, dict.fromkeys(PAIR, ANNOTATOR))

    def schema(types: dict[str, Any]) -> dict[str, Any]:
        kind = types[ANNOTATOR]
        return dict.fromkeys(PAIR, kind.inner if call.unfolds and isinstance(kind, pl.List) else kind) | options.schema

    return answer_of(call, compute, schema, keys=keys)


def _names_in(given: Any) -> list[str]:
    """Return the names in an option, which may be one name or several, as a list."""
    several = [] if given is None else given if isinstance(given, list | tuple) else [given]
    return [
        quote(one) if isinstance(one, TYPES_WITH_LONG_TEXTS) and not isinstance(one, str) else str(names_as_text(one))
        for one in several
    ]


def _with_segments_read(call: Call, keys: Sequence[str]) -> Call:
    """Return the call that also reads the segment columns ``keys`` of the judgments, the option ``by=``."""
    available = call.judgments_backend.names() if call.judgments_backend else []
    for key in keys:
        if key not in available:
            raise ColumnError(
                f"by={quote(key)} is no column of the judgments, which have {listed(available)}"
                f"{closest(key, available)}; join it to them before judge()"
            )
    extra = ((ANNOTATOR, call.judgment_columns.annotator), *((key, key) for key in keys))  # type: ignore[union-attr]
    return replace(call, judgment_columns=replace(call.judgment_columns, extra=extra))  # type: ignore[type-var]


def _by_segment(each: pl.DataFrame, log: Log, source: Source, keys: Sequence[str]) -> list[pl.DataFrame]:
    """Split the judgments by segment, sorted by the values of the segments, nulls last."""
    read = source.judgments_as_polars()
    if not keys or read is None or not len(each):
        return [each]
    names = [f"by:{i}" for i in range(len(keys))]
    segments = read[0].select(pl.col(key).alias(name) for key, name in zip(keys, names, strict=True))[each["row"]]
    each, single = each.hstack(segments), log.separate_judgments.judgment_keys  # type: ignore[union-attr]
    counted = (
        each.group_by(*single, *names).agg(pl.len().alias("n")).group_by(single).agg(pl.sum("n"), most=pl.max("n"))
    )
    if lost := len(counted.filter(pl.col("n") > 1, pl.col("most") < 2)):
        raise BadValueError(
            f"by={listed(keys)}: each judgment of {lost} of {len(counted)} documents has another value, so that no two "
            "are compared; give the judgments of a document one value, or leave by= out"
        )
    return each.sort(names, nulls_last=True, maintain_order=True).partition_by(names, maintain_order=True)


def _table(compared: AnnotatorPairs, of: float | None, segment: int, options: AgreementOptions) -> pl.DataFrame:
    """Return the numbered rows of the result for a segment, or for one class in it.

    Parameters
    ----------
    compared : the pairs of annotators in the segment.
    of : the class; None for all.
    segment : the number of the segment.
    """
    compared = compared if of is None else compared.of_class(of)
    found = compared.measures(np.ones(compared.queries))
    columns = found | ({} if options.ci is None else _ends(compared, found, options))
    numbers = {name: pl.Series(values, nan_to_null=True) for name, values in columns.items()}
    table = pl.DataFrame(compared.named() | numbers).with_row_index("row")
    return table.with_columns(pl.lit(of, pl.Float64).alias("class"), segment=pl.lit(segment))


def _ends(compared: AnnotatorPairs, found: Mapping[str, Array], options: IntervalOptions) -> dict[str, Array]:
    """Return the ends of the bootstrap interval of each measure in each row of the result.

    NaN for a single query, and where no draw differs from another.

    Queries are drawn, and the level is expanded for the number of those that a row is about.

    ``found``: the measures themselves, by name.
    """
    n, ci = compared.units, options.ci or 0
    levels = [expanded_level(ci, one) for one in n.tolist()]
    drawn = _drawn(compared, options) if compared.queries > 1 else {}
    ends: dict[str, Array] = {}
    for name, values in found.items():
        both = np.full((2, len(n)), np.nan)
        for at in np.flatnonzero(n > 1) if name in drawn else ():
            low, high = percentile_interval(drawn[name][:, at], levels[at])
            if low <= high:  # not null
                both[:, at] = np.fmin(low, values[at]), np.fmax(high, values[at])
        ends |= {f"{name}_low": both[0], f"{name}_high": both[1]}
    return ends


def _drawn(compared: AnnotatorPairs, options: IntervalOptions) -> dict[str, Array]:
    """Return the measures in resamples of the queries, by name, shape (resamples, rows of the result) each."""
    resamples = enough_resamples(options.resamples, compared.queries)
    size, made, parts = max(1, NUMBERS_AT_ONCE // compared.size), {1: compared}, []
    for block in draws(Units.without_values(compared.queries), resamples, options.seed):
        for begin in range(0, len(block), size):
            often = block[begin : begin + size].astype(np.float64)
            m = len(often)
            if m not in made:
                made[m] = compared.repeated(m)
            parts.append({name: values.reshape(m, -1) for name, values in made[m].measures(often.ravel()).items()})
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def disagreements(plan: Plan) -> Any:
    """Implement ``irm.disagreements``."""
    call = _annotated(plan)
    keys = (*call.columns.query, str(call.columns.doc))
    if call.judgment_columns and (subtopic := call.judgment_columns.subtopic):
        check_key_names(keys, [subtopic])
        keys += (subtopic,)
    check_key_names(keys, RANGE_COLUMNS)

    def compute(source: Source) -> Answer:
        source = judgments_alone(source)
        log = source.log()
        each, value = _single_judgments(log)
        table = _differing(each, log.separate_judgments.judgment_keys, value)  # type: ignore[union-attr]
        table = table.sort("difference", "n", "row", descending=[True, True, False])
        check_castable(table["doc"], source.type_of_docs, str(call.columns.doc), "documents")
        rows = log.rows(table["row"].to_numpy().astype(np.int64) + log.n_rows)
        return Answer(dict.fromkeys(keys, rows), {name: table[name].cast(kind) for name, kind in RANGE_COLUMNS.items()})

    return answer_of(call, compute, lambda _: RANGE_COLUMNS, keys=keys)


def _differing(each: pl.DataFrame, keys: Sequence[str], value: str) -> pl.DataFrame:
    """Return the documents with different judgments: their number, the lowest, the highest, and the first row."""
    number, first = codes(each, keys)
    n, order = np.bincount(number, minlength=len(first)), np.argsort(number, kind="stable")
    starts = np.cumsum(n) - n
    lowest, highest, row = (
        some.reduceat(each[name].to_numpy()[order], starts) if len(starts) else np.zeros(0)
        for some, name in ((np.minimum, value), (np.maximum, value), (np.minimum, "row"))
    )
    at = np.flatnonzero(highest > lowest)
    columns = {"n": n[at], "lowest": lowest[at], "highest": highest[at], "difference": highest[at] - lowest[at]}
    return pl.DataFrame({"doc": each["doc"].gather(first[at]), **columns, "row": row[at].astype(np.int64)})


def _annotated(plan: Plan) -> Call:
    """Return the call in which annotators may differ; raise if no column names them."""
    if plan.given.judgments is None and plan.columns.label and plan.columns.predicted:
        ways = "evaluate('kappa', 'accuracy') is that of label= and predicted="
        raise ColumnError(
            f"agreement is that of judgments, of which judge(qrels, annotator=...) names who gave them; {ways}"
        )
    call = bind(plan, Needs(judgments_optional=True, verb=AGREEMENT))
    if call.judgment_columns is None or not call.judgment_columns.annotator:
        problem = "no column says who judged; name it, as in judge(qrels, annotator='annotator')"
        problem += ", where qrels may be this very frame" if call.judgment_columns is None else ""
        raise ColumnError(problem).offering(annotator=...)
    # Differing judgments are no error, and their combination is not looked at; nor are the rows of the frame.
    return replace(call, conventions=replace(call.conventions, several=ANY_JUDGMENT, duplicates="first"))


def _single_judgments(log: Log) -> tuple[pl.DataFrame, str]:
    """Return the single judgments that are not null, and the name of their column: "grade", else "label"."""
    each: Any = log.separate_judgments and log.separate_judgments.by_annotator
    value = judgment_columns_in(each)[0]
    return each.with_columns(pl.col(value).cast(pl.Float64)).drop_nulls(value), value


def _references(each: pl.DataFrame, wanted: Sequence[str]) -> Sequence[str]:
    """Return the names of the references; raise for an unknown one, or if no other annotator is left."""
    if each["annotator"].dtype.is_float():  # whole numbers become floats when pandas reads them beside a gap
        wanted = [str(float(one)) if one.isdecimal() else one for one in wanted]
    names = [as_text(each.select("annotator"), row) for row in each["annotator"].arg_unique().sort()]
    for one in wanted:
        if one not in names:
            others = f"; there are {listed(names)}" if names else "; nobody judged"
            hint = closest(one, names) or others
            raise BadValueError(f"reference={quote(one)} is none of the annotators{hint}")
    if wanted and not set(names) - set(wanted):
        raise BadValueError(f"reference= names every annotator, {listed(names)}; leave one out")
    return wanted


def _check_ratios(values: pl.Series) -> None:
    """Raise for a grade below 0, which has no ratio to another one."""
    if len(below := values.filter(values < 0)):
        below_it = f"{len(below)} of {len(values)} are below it, as {below[0]:g}"
        raise BadValueError(f"level='ratio' takes grades from 0 up, and {below_it}; pass level='interval'")


def _paired(
    each: pl.DataFrame, value: str, log: Log, references: Sequence[str], level: MeasurementLevel | None
) -> AnnotatorPairs:
    """Pair the annotators of a segment, each two of them, or each with the references."""
    judged: Any = log.separate_judgments
    each = each.select(*judged.judgment_keys, "annotator", value, "row")
    # Sorted, so that nothing depends on the order of the rows.
    each = each.sort(*judged.judgment_keys, "annotator", nulls_last=True)
    query, document = run_codes(each, judged.keys), run_codes(each, judged.judgment_keys)
    pairs = pair_annotators(each, document, value, references)
    query_of = np.zeros(document.max(initial=-1) + 1, np.int64)
    query_of[document] = query
    values, graded = each[value].to_numpy(), value == "grade"
    level = level or ("interval" if graded else "nominal")
    together = Judgments(document, values, np.zeros(len(query_of), np.int64), 1, level)
    rel = log.conventions.rel if graded else 1.0
    return AnnotatorPairs(pairs, together, query_of, graded, rel, with_reference=bool(references))
