"""Tests and examples leave the registry of metrics as it was; where each core has a worker, polars has one thread."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

if "PYTEST_XDIST_WORKER" in os.environ:  # before polars is imported; further threads would wait for the same cores
    os.environ.setdefault("POLARS_MAX_THREADS", "1")

from inside import REGISTRY, read_text

collect_ignore = ["docs/scripts/plain_docstrings.py"]  # imports what only the site needs


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the switches that `tests/conftest.py` reads; here, since this file is read whatever is tested."""
    say = "run every combination of the values of a test, not only some of them"
    parser.addoption("--full-product", action="store_true", help=say)
    say = "with -m '': write the list of tests whose cases take long, tests/slow_tests.txt"
    parser.addoption("--write-slow-tests", action="store_true", help=say)


@pytest.fixture(autouse=True)
def _registry_as_before() -> Iterator[None]:
    """Take the metrics out again that a test or an example registers."""
    before = dict(REGISTRY)
    yield
    if before != REGISTRY:
        REGISTRY.clear()
        REGISTRY.update(before)
        read_text.cache_clear()
