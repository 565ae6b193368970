"""Reports and tables to look at: numbers come from the verbs, and are only laid out here.

``IRM.report`` is the door to whole reports. Frames that verbs returned become tables with ``html``, ``latex`` and
``markdown``. Nothing here computes a metric, and nothing here is imported before somebody asks.
"""

from frame_metrics.report.tables import html, latex, markdown

__all__ = ["html", "latex", "markdown"]
