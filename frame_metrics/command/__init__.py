"""The command line, ``frame-metrics`` and ``python -m frame_metrics``.

It makes an irm with the roles that flags name, calls its verbs, prints what they return, and holds it against gates.
Here is no metric, and no list of what a role's annotation or a verb's signature says already.
"""

from frame_metrics.command.run import main

__all__ = ["main"]
