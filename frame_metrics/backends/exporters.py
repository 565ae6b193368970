"""Objects that export Arrow: their schemas, found without reading rows, and the rows of some columns, read once."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from inspect import ismethod
from types import SimpleNamespace
from typing import Any
from weakref import WeakSet

from frame_metrics.errors import BadValueError, class_name

_BEGUN: WeakSet[Any] = WeakSet()  # the readers that were read already; each can be read only once


def gives_arrow(frame: Any) -> bool:
    """Return True for datasets and scanners of pyarrow, and for any other object but a column that exports Arrow."""
    datasets = sys.modules.get("pyarrow.dataset")
    if datasets is not None and isinstance(frame, datasets.Dataset | datasets.Scanner):
        return True
    return hasattr(frame, "__arrow_c_stream__") and type(frame).__name__ not in ("Series", "ChunkedArray")


def arrow_schema(frame: Any) -> Any:
    """Return the schema of a frame, as pyarrow's; no rows are read."""
    import pyarrow as pa

    try:
        known: Any
        for known in (getattr(frame, "schema", None), getattr(frame, "projected_schema", None), frame):
            known = known() if ismethod(known) else known  # in Ibis, schema is a method
            if hasattr(known, "__arrow_c_schema__"):
                # with this attribute alone, since pyarrow 17 takes a schema of Ibis for a mapping
                return pa.schema(SimpleNamespace(__arrow_c_schema__=known.__arrow_c_schema__))
        return _opened(frame).schema
    except pa.ArrowInvalid as error:
        if "non-struct" in str(error):
            raise BadValueError(
                f"a {class_name(frame)} is an array and not a frame: give a frame that has it"
            ) from None
        raise


def arrow_table(frame: Any, columns: Sequence[str]) -> Any:
    """Return the named columns as a pyarrow Table; other columns are not exported, if the frame can leave them out.

    Parameters
    ----------
    frame : an object that exports Arrow, or a dataset or scanner.
    columns : the names of some of its columns, each once.

    Raises
    ------
    BadValueError
        The frame can be read only once, and was read before.
    """
    import pyarrow as pa

    if isinstance(frame, pa.Table):
        return frame.select(list(columns))
    try:
        reader = _opened_once(frame, columns)
        at = [reader.schema.get_field_index(name) for name in columns]
        schema = pa.schema([reader.schema.field(i) for i in at])
        return pa.Table.from_batches([batch.select(at) for batch in reader], schema)
    except pa.ArrowInvalid as error:
        if "already scanned" in str(error):
            raise _read_before(frame) from None
        raise


def _opened_once(frame: Any, columns: Sequence[str]) -> Any:
    """Open a stream of the named columns, or of all columns if the frame cannot export fewer."""
    import pyarrow as pa

    if isinstance(frame, pa.RecordBatchReader):  # a second reading of it would find no row, and say nothing
        if frame in _BEGUN:
            raise _read_before(frame)
        _BEGUN.add(frame)
    narrow = _projected(frame, columns)
    if narrow is not None:
        reader = _opened(narrow)
        if reader.schema.names == list(columns):  # otherwise the method ``select`` does something else
            return reader
        reader.close()
    return _opened(frame)


def _projected(frame: Any, columns: Sequence[str]) -> Any:
    """Return an object that exports only the named columns, or None; nothing is read."""
    if hasattr(frame, "scanner"):
        return frame.scanner(columns=list(columns))
    for given in ([list(columns)], columns) if hasattr(frame, "select") else ():
        try:
            narrow = frame.select(*given)
        except Exception:  # of any library: it reads a name as an expression, or takes no list
            continue
        if hasattr(narrow, "__arrow_c_stream__"):
            return narrow
    return None


def _opened(frame: Any) -> Any:
    """Open a stream of Arrow; its rows are not read yet."""
    import pyarrow as pa

    return pa.RecordBatchReader.from_stream(frame) if hasattr(frame, "__arrow_c_stream__") else frame.to_reader()


def _read_before(frame: Any) -> BadValueError:
    return BadValueError(
        f"a {class_name(frame)} can be read once only, and this one was read; make it again and give its table"
    )
