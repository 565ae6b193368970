"""Metrics of ranked retrieval on pandas and polars frames. Importing this makes ``df.irm`` exist."""

from frame_metrics import metrics
from frame_metrics.accessor import IRM
from frame_metrics.border.trec import read_qrels, read_run, write_qrels, write_run
from frame_metrics.errors import FrameMetricsError
from frame_metrics.metrics.metric import Metric
from frame_metrics.register import register as _register

__all__ = [
    "IRM",
    "FrameMetricsError",
    "Metric",
    "metrics",
    "read_qrels",
    "read_run",
    "write_qrels",
    "write_run",
]

_register()
