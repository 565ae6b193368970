"""Laws that a metric of one's own can be checked by, with small examples of what breaks them.

No test runner is needed. Nothing else of the package imports this.
"""

from frame_metrics.errors import BrokenLawError
from frame_metrics.testing.check import check_metric

__all__ = ["BrokenLawError", "check_metric"]
