"""Long names of systems in the first block of a report."""

from __future__ import annotations

from frame_metrics.report.short_names import in_full_once

LONG = [f"run {at} of a search with quite a long name" for at in (1, 2)]


def test_a_long_name_is_in_full_once() -> None:
    """Later it is cut in the middle, as in tables; short names, and the part of a longer one, stay."""
    assert in_full_once([f"{LONG[0]} beats {LONG[1]}.", f"Look at {LONG[0]} and b."], [*LONG, "b"]) == [
        f"{LONG[0]} beats {LONG[1]}.",
        "Look at run 1 of a s…a long name and b.",
    ]
    longer = f"{LONG[0]}, again"
    assert in_full_once([f"{longer}: {LONG[0]}."], [LONG[0], longer]) == [f"{longer}: {LONG[0]}."]


def test_names_that_would_be_alike_are_not_cut() -> None:
    """What tells them apart stands in the middle."""
    alike = [f"one of the searches {at} with quite a long name" for at in (1, 2)]
    assert in_full_once([f"{alike[0]}, {alike[1]}", alike[0]], alike) == [f"{alike[0]}, {alike[1]}", alike[0]]
    assert in_full_once(["a beats b."], ["a", "b"]) == ["a beats b."]
