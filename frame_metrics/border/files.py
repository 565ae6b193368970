"""Files: their names, reading them in pieces of whole lines, and writing them beside before they take their place."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

from frame_metrics.errors import BadValueError


def file_name(path: Any) -> str:
    """Return a path as text, or raise for what names no file: a number would be a file that is open already."""
    name = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(name, str) or not name or "\0" in name:
        raise BadValueError(f"path={path!r} is not the name of a file; give a path as text or os.PathLike")
    return name


@contextmanager
def replacing(name: str) -> Iterator[IO[bytes]]:
    """Open a new file that takes the place of the named one once it is whole, and is removed where it is not.

    A device, a pipe or a file that cannot be replaced is written directly. A link keeps pointing where it does.
    """
    if not _can_be_replaced(name):
        with open(name, "wb") as file:
            yield file
        return
    target = os.path.realpath(name)
    beside = os.path.join(os.path.dirname(target), f".{secrets.token_hex(8)}.tmp")
    try:
        with open(beside, "xb") as file:
            yield file
        if os.path.exists(target):
            _hand_over(target, beside)
        os.replace(beside, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(beside)
        raise


def _can_be_replaced(name: str) -> bool:
    """Return whether a name is that of a regular file, or of none yet, where files may be made."""
    is_folder = not os.path.basename(name)
    # A link to a file that the process has open: what else is written to that file has to stand in it too.
    is_open = os.path.islink(name) and os.path.abspath(name).startswith(("/dev/", "/proc/"))
    may_write = not os.path.exists(name) or (os.path.isfile(name) and os.access(name, os.W_OK))
    folder = os.path.dirname(os.path.realpath(name))
    return not is_folder and not is_open and may_write and os.access(folder, os.W_OK | os.X_OK)


def _hand_over(old: str, new: str) -> None:
    """Give a new file the owner, where that is allowed, and the permissions of an old one."""
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(new, os.stat(old).st_uid, os.stat(old).st_gid)
    shutil.copymode(old, new)
