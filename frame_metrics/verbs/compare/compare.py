"""The verb compare: differences between systems with intervals and tests, paired by query or by document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from frame_metrics.answer import Answer
from frame_metrics.errors import check_key_names
from frame_metrics.measuring.values_of_source import planned, values_of_source
from frame_metrics.metrics.names import Metrics
from frame_metrics.plan.call import Call
from frame_metrics.plan.compared import COMPARE, TESTS
from frame_metrics.plan.needs import Needs
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import Source, answer_of
from frame_metrics.roles.list_columns import new_column_name
from frame_metrics.roles.resolve import ROW
from frame_metrics.stats.proxies import students_t
from frame_metrics.verbs.compare.differences import columns_of, keys_of_pairs, schema_of
from frame_metrics.verbs.compare.options import CompareOptions, check_compared, kind_of_comparison
from frame_metrics.verbs.compare.paired import pairing_function, pairs_tested, query_differences
from frame_metrics.verbs.compare.proxied import proxied
from frame_metrics.verbs.compare.rows import rows_compared

COMPARE_BY_KIND = {"rows": rows_compared, "proxies": proxied}


def compare(plan: Plan, metrics: Sequence[Metrics], options: CompareOptions) -> Any:
    """Implement ``irm.compare``, whose docstring has the parameters."""
    call, asked = planned(plan, metrics, Needs(verb=COMPARE))
    kind = kind_of_comparison(call, arms=False)
    call = with_row_as_document(call) if kind == "rows" and options.against is None else call
    check_compared(kind, call, asked or (), options)
    options = replace(options, kind=kind)
    if kind == "proxies" and options.test != "z":
        students_t()  # so that an error about scipy comes before anything is read
    # Names of keys that per_query=False refuses are refused with per_query=True too.
    check_key_names(call.columns.keys, (*keys_of_pairs(options), *columns_of(replace(options, per_query=False))))
    if kind != "rows":
        options = replace(options, test=options.test or next(iter(TESTS[kind])), by_default=options.test is None)
    paired = pairing_function(call, asked, options)

    def compute(source: Source) -> Answer:
        if kind in COMPARE_BY_KIND:
            return COMPARE_BY_KIND[kind](source, asked or (), options)
        pairing = paired(values_of_source(source, asked))
        return query_differences(pairing) if options.per_query else pairs_tested(pairing, options)

    by_document = kind == "rows" and options.against is None
    schema = schema_of(call.columns, options, call=call)
    return answer_of(call, compute, schema, by_document=by_document)


def with_row_as_document(call: Call) -> Call:
    """Return a call in which each row is a document, if systems are columns of the same rows and no column says it."""
    columns = call.columns
    if not columns.shape.per_system or columns.doc or columns.query:
        return call
    row = new_column_name(ROW, call.plan.available)
    return replace(call, columns=columns.changed(doc=row, made=(*columns.shape.made, row)))
