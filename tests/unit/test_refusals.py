"""The reader of tables of refusals: what a table says and is not so is shown."""

from __future__ import annotations

import pytest

from refusals import check, refusals_of

GOOD = """
int("x")
int(VALUE)
    for: "y", "z"
    ValueError: invalid literal [...]
    but: int("1")
"""


@pytest.mark.parametrize(
    ("wrong", "shown"),
    [
        (GOOD.replace('int("x")', 'int("7")'), 'int("7")\n    passes, and gives 7'),
        (GOOD.replace("ValueError", "TypeError"), "is not refused by TypeError"),
        (GOOD.replace("invalid", "valid"), "is not refused by ValueError: valid literal [...]\n    but by ValueError("),
        (GOOD.replace(" [...]", ""), "is not refused by ValueError: invalid literal"),
        (GOOD.replace('int("1")', 'int("one")'), 'int("one")\n    does not pass'),
        (GOOD.replace('    but: int("1")\n', ""), "no neighbour that passes"),
        (GOOD + "    ValueError: twice\n", "no call stands above ValueError: twice"),
        (GOOD.replace("    ValueError: invalid literal [...]\n", ""), "no error stands below"),
    ],
)
def test_a_table_that_is_not_so(wrong: str, shown: str) -> None:
    """A call that passes, another class or other words, and a neighbour that fails or is not there are shown."""
    check(GOOD, {})
    with pytest.raises(AssertionError) as caught:
        check(wrong, {})
    assert shown in str(caught.value)


def test_values_take_turns() -> None:
    """Each call has a row for each value, which stands in the words as Python shows it, or without quotes."""
    table = "f(VALUE, b=\n        VALUE)\n    for: 'a', 2\n    ValueError: VALUE, TEXT\n    but: f()"
    rows = [(row.call, row.words) for row in refusals_of(table, {})]
    assert rows == [("f('a', b= 'a')", "'a', a"), ("f(2, b= 2)", "2, 2")]
