"""The command line, ``frame-metrics`` and ``python -m frame_metrics``.

It makes an irm with the roles that flags name, calls its verbs, prints their results, and checks these against gates.
No metric is defined here, and nothing is repeated that a role's annotation or a verb's signature says.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version

from frame_metrics.command.front import PROGRAM, front, printed

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``frame-metrics`` with arguments, by default those of the process, and return the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments in (["--version"], ["-V"]):
        return printed(f"{PROGRAM} {version('frame_metrics')}")
    if arguments in (["--help"], ["-h"], ["help"]):
        return printed(front(argparse.ArgumentParser).format_help())
    from frame_metrics.command.run import run

    return run(arguments)
