"""The corpus of calls: what came of each is what is kept, to the byte, and so is all that is public."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from helpers import script

CORPUS = script(Path(__file__).with_name("corpus.py"))
SHOWN = 20  # differences in a message


def _fail(told: list[str]) -> None:
    more = [f"... and {len(told) - SHOWN} more"] * (len(told) > SHOWN)
    way = f"If this is meant, run `{CORPUS.RENEW}`, look at what it prints, and say in the commit why."
    pytest.fail("\n".join([*told[:SHOWN], *more, "", way]), pytrace=False)


def _test_of(name: str) -> Callable[[], None]:
    def test() -> None:
        if told := [*CORPUS.differences(CORPUS.kept(name), CORPUS.made(name))]:
            _fail(told)

    test.__doc__ = f"Each call of calls/{name}.txt gives what is kept."
    return test


# Functions of their own, since of the cases of one test only some are fast.
globals().update({f"test_{name}": _test_of(name) for name in CORPUS.names_of_lists()})


def test_what_is_public() -> None:
    """Signatures and the columns of results are those that are kept."""
    results = {file: text for name in CORPUS.names_of_lists() for file, text in CORPUS.kept(name).items()}
    told = []
    for file, text in CORPUS.snapshots(results).items():
        before = (CORPUS.RESULTS / file).read_text(encoding="utf-8")
        told += [f"{file}: {line}" for line in CORPUS.lines_apart(before, text)]
    if told:
        _fail(told)
