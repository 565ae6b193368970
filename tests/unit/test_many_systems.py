"""Of many systems a report opens with the best and those near the baseline."""

from __future__ import annotations

from frame_metrics.backends.tables import Cell, Table, in_html
from frame_metrics.report.chosen_rows import best_and_near
from frame_metrics.report.short_names import short_table


def test_the_best_and_the_neighbours_of_the_baseline_are_open() -> None:
    """In their order, each once."""
    ranked = [*"abcdefghij"]
    assert best_and_near(ranked, [], 3) == [*"abc"]
    assert best_and_near(ranked, ["h"], 3) == [*"abcghi"]
    assert best_and_near(ranked, ["a", "j"], 2) == [*"abij"]


def test_long_names_are_cut_in_the_middle_unless_they_are_then_alike() -> None:
    """The whole name is the title of the cell; only the first number keeps its interval."""

    def table(*names: str) -> Table:
        rows = [
            [Cell(name), Cell("0.5", 0.5, subtext="0.4 to 0.6"), Cell("0.3", 0.3, subtext="0.2 to 0.4")]
            for name in names
        ]
        return Table(["run", "ap", "rr"], rows, [False, True, True])

    name = "run 001 of a search with a long name"
    ((first, ap, rr),) = short_table(table(name)).rows
    assert (first.text, first.whole) == ("run 001 of a…a long name", name)
    assert (ap.subtext, rr.subtext) == ("0.4 to 0.6", "")
    assert f'title="{name}"' in in_html(short_table(table(name)))
    alike = table("a" * 12 + "1" * 9 + "b" * 12, "a" * 12 + "2" * 9 + "b" * 12)
    assert short_table(alike).rows == alike.rows
