"""Pictures of the frames that verbs return: the verbs compute, and these draw. Nothing here computes a metric.

Each function takes a tidy frame of any kind and returns a chart of Altair, which is imported when a picture is drawn.
``tidy`` reads frames, ``charts`` has what the pictures share, ``of_irm`` calls the verbs first.
"""

from frame_metrics.plot.averages import bounds, cutoffs, metrics
from frame_metrics.plot.charts import png, svg
from frame_metrics.plot.curves import pr

__all__ = ["bounds", "cutoffs", "metrics", "png", "pr", "svg"]
