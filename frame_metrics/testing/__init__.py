"""Laws by which users check their own metrics; a broken law is reported with a small example.

No test runner is needed. No other part of the package imports this folder.
"""

from frame_metrics.errors import BrokenLawError
from frame_metrics.testing.check import check_metric

__all__ = ["BrokenLawError", "check_metric"]
