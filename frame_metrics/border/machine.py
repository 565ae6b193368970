"""The memory that this process may still take: of the machine, and of the groups of Linux that it runs in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

UNKNOWN = 1 << 32  # bytes that are taken to be free where the system does not say
LEAST = 1 << 28  # bytes that are used even if less is free
# Where a version of groups says its limit, what is used, and how much of that are files, which make room when asked to.
FIRST = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
SECOND = ("memory.max", "memory.current", "inactive_file")


def memory_to_use(root: Path = Path("/")) -> int:
    """Return half of the bytes that are free; in a group, as containers are, half of what is left of its limit.

    At least ``LEAST``, but no more than a quarter of the limit of a group.
    """
    limits = list(_limits(root))
    free = [left for _, left in limits] + [1024 * _said(root / "proc/meminfo").get("MemAvailable", UNKNOWN // 1024)]
    return max(min(free) // 2, min([LEAST, *(limit // 4 for limit, _ in limits)]))


def _limits(root: Path) -> Iterator[tuple[int, int]]:
    """Yield the limit of each group that this process is in and has one, and the bytes that are left of it."""
    for folder, (most, used, files) in _groups(root):
        try:
            limit, now = int((folder / most).read_text()), int((folder / used).read_text())
        except (OSError, ValueError):  # no such group here, or no limit: "max" is no number
            continue
        yield limit, max(limit - now + _said(folder / "memory.stat").get(files, 0), 0)


def _groups(root: Path) -> Iterator[tuple[Path, tuple[str, str, str]]]:
    """Yield the folders of this process' groups and of those that they are in, whose limits hold too.

    A container may see its own group as the outermost one, under the path that it has outside.
    """
    mounts = {"": (root / "sys/fs/cgroup", SECOND), "memory": (root / "sys/fs/cgroup/memory", FIRST)}
    for line in _lines(root / "proc/self/cgroup"):
        _, kinds, path = line.split(":", 2)
        for kind in {*kinds.split(",")} & {*mounts}:
            mount, names = mounts[kind]
            inner = mount / path.lstrip("/")
            for folder in (inner, *inner.parents):
                if folder.is_relative_to(mount):
                    yield folder, names


def _said(path: Path) -> dict[str, int]:
    """The numbers of a file that has a name and a number in each line."""
    words = (line.replace(":", " ").split() for line in _lines(path))
    return {name: int(number) for name, number, *_ in words}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:  # of a system without such files
        return []
