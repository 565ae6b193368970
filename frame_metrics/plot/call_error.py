"""The error of a call of all pictures, which are asked for one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from frame_metrics.errors import UnknownNameError, listed, nearest


def not_called(what: str, pictures: Sequence[str], args: Sequence[Any], given: str) -> UnknownNameError:
    """Return the error of ``irm.plot(...)`` or ``frame_metrics.plot(...)``.

    Parameters
    ----------
    pictures : the names of the pictures that it has.
    args : the arguments of the call, of which the first may be the name of a picture.
    given : the argument of the example in the message.
    """
    name = nearest(args[0], pictures) if args and isinstance(args[0], str) else None
    return UnknownNameError(
        f"{what} has several pictures, and is called by the name of one, as {what}.{name or 'metrics'}({given}); there "
        f"are {listed(pictures)}"
    )
