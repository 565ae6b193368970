"""Dask: frames that are evaluated where their partitions are."""

import dask.dataframe as dd

from frame_metrics import IRM


def test_the_accessor_is_official() -> None:
    """Dask knows the accessor, which stands on its frames once both libraries are imported."""
    assert dd.DataFrame.irm is IRM
    assert "irm" in dd.DataFrame._accessors
