"""The memory that this process may still use, on this machine and within the limits of its Linux control groups."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

UNKNOWN = 1 << 32  # bytes assumed to be free if the system does not say
MIN_MEMORY = 1 << 28  # bytes that are used even if less is free
# Files of version 1 and 2 of control groups with the limit and the used memory, and the name of the part of it that
# holds cached files, which the system frees on demand.
FILES_OF_CGROUPS_1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
SECOND = ("memory.max", "memory.current", "inactive_file")


def memory_to_use(root: Path = Path("/")) -> int:
    """Return half of the free memory, in bytes; in a control group, as in a container, half of what its limit leaves.

    The result is at least ``MIN_MEMORY``, or a quarter of a group's limit if that is less.
    """
    limits = list(_limits(root))
    free = [left for _, left in limits] + [
        1024 * _numbers_in(root / "proc/meminfo").get("MemAvailable", UNKNOWN // 1024)
    ]
    return max(min(free) // 2, min([MIN_MEMORY, *(limit // 4 for limit, _ in limits)]))


def _limits(root: Path) -> Iterator[tuple[int, int]]:
    """Yield the limit of each control group of this process that has one, and the bytes left of it."""
    for folder, (most, used, files) in _groups(root):
        try:
            limit, now = int((folder / most).read_text()), int((folder / used).read_text())
        except (OSError, ValueError):  # no such group here, or no limit: "max" is no number
            continue
        yield limit, max(limit - now + _numbers_in(folder / "memory.stat").get(files, 0), 0)


def _groups(root: Path) -> Iterator[tuple[Path, tuple[str, str, str]]]:
    """Yield the folder of each control group of this process, and of the groups around it, whose limits also hold.

    A container may see its own group at the root, while its path is the one that it has outside the container.
    """
    mounts = {"": (root / "sys/fs/cgroup", SECOND), "memory": (root / "sys/fs/cgroup/memory", FILES_OF_CGROUPS_1)}
    for line in _lines(root / "proc/self/cgroup"):
        _, kinds, path = line.split(":", 2)
        for kind in {*kinds.split(",")} & {*mounts}:
            mount, names = mounts[kind]
            inner = mount / path.lstrip("/")
            for folder in (inner, *inner.parents):
                if folder.is_relative_to(mount):
                    yield folder, names


def _numbers_in(path: Path) -> dict[str, int]:
    """Return the numbers by name of a file with a name and a number in each line."""
    words = (line.replace(":", " ").split() for line in _lines(path))
    return {name: int(number) for name, number, *_ in words}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:  # of a system without such files
        return []
