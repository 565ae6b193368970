"""Tests and examples leave the registry of metrics as it was."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from inside import REGISTRY, read_text

collect_ignore = ["docs/scripts/plain_docstrings.py"]  # imports what only the site needs


@pytest.fixture(autouse=True)
def _registry_as_before() -> Iterator[None]:
    """Take the metrics out again that a test or an example registers."""
    before = dict(REGISTRY)
    yield
    if before != REGISTRY:
        REGISTRY.clear()
        REGISTRY.update(before)
        read_text.cache_clear()
