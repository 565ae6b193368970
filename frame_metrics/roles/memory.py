"""Amounts of memory: a number of bytes, or a text."""

from __future__ import annotations

import re
from typing import Any

# Bytes of each unit; a B after the unit may be left out.
BYTES_OF_UNIT = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12} | {
    "KI": 2**10,
    "MI": 2**20,
    "GI": 2**30,
    "TI": 2**40,
}


def bytes_of(memory: int | str) -> int:
    """Return an amount of memory as a number of bytes, such as 2,000,000,000 for "2GB"; 0 for a text that is none."""
    if isinstance(memory, str):
        amount = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) *((?:[kmgt]i?)?)b?", memory.strip(), re.IGNORECASE)
        return 0 if amount is None else int(float(amount[1]) * BYTES_OF_UNIT[amount[2].upper()])
    return int(memory)


def is_memory(value: Any) -> bool:
    """Return True for an amount of memory above 0."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return False
    return bytes_of(value) > 0
