"""The memory that a process may still take, read from files as Linux writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from frame_metrics.backends.free_memory import memory_to_use

MB = 1 << 20
FREE = {"proc/meminfo": f"MemTotal: 99999999 kB\nMemAvailable: {8192 * 1024} kB\nHugePages_Total: 0\n"}
NONE_SAID = 9223372036854771712  # the limit of a group of version 1 that has none
SYSTEMS = {
    "a machine without groups": (FREE, 4096),
    "a system without such files": ({}, 2048),
    "a group of version 2, whose files make room": (
        FREE
        | {
            "proc/self/cgroup": "0::/a/b\n",
            "sys/fs/cgroup/a/b/memory.max": f"{3000 * MB}\n",
            "sys/fs/cgroup/a/b/memory.current": f"{2000 * MB}\n",
            "sys/fs/cgroup/a/b/memory.stat": f"anon 5\ninactive_file {1000 * MB}\n",
        },
        1000,
    ),
    "the group around it is the narrower one": (
        FREE
        | {
            "proc/self/cgroup": "0::/a/b\n",
            "sys/fs/cgroup/a/memory.max": f"{1600 * MB}\n",
            "sys/fs/cgroup/a/memory.current": "0\n",
            "sys/fs/cgroup/a/b/memory.max": "max\n",
            "sys/fs/cgroup/a/b/memory.current": "0\n",
        },
        800,
    ),
    "a group of version 1, among others": (
        FREE
        | {
            "proc/self/cgroup": "5:cpu,cpuacct:/x\n4:name=systemd:/\n3:memory:/x\n0::/\n",
            "sys/fs/cgroup/memory/x/memory.limit_in_bytes": f"{1200 * MB}\n",
            "sys/fs/cgroup/memory/x/memory.usage_in_bytes": f"{200 * MB}\n",
            "sys/fs/cgroup/memory/x/memory.stat": "total_inactive_file 0\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{NONE_SAID}\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": "0\n",
        },
        500,
    ),
    "a container that sees its group as the outermost": (
        FREE
        | {
            "proc/self/cgroup": "4:memory:/docker/0123\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{2000 * MB}\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": "0\n",
        },
        1000,
    ),
    "a group that is nearly full": (
        FREE
        | {
            "proc/self/cgroup": "0::/\n",
            "sys/fs/cgroup/memory.max": f"{200 * MB}\n",
            "sys/fs/cgroup/memory.current": f"{190 * MB}\n",
        },
        50,
    ),
}


@pytest.mark.parametrize("system", SYSTEMS)
def test_half_of_what_is_left_is_used(system: str, tmp_path: Path) -> None:
    """Of the machine or of the narrowest group, and never more than a quarter of a group's limit if it is full."""
    files, expected = SYSTEMS[system]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert memory_to_use(tmp_path) == expected * MB
