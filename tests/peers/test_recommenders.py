"""Every function of recommenders' python_evaluation: its number on its own fixture, or a reason on its page."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "coming_from" / "recommenders.md"

# The frames of its tests (tests/unit/recommenders/evaluation/conftest.py), with the numbers that these expect.
USERS = [1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 1, 1]
TRUE = pl.DataFrame(
    {
        "user": USERS,
        "item": [3, 1, 4, 5, 6, 7, 2, 5, 6, 8, 9, 10, 11, 12, 13, 14, 1, 2],
        "rating": [3, 5, 5, 3, 3, 1, 5, 5, 5, 4, 4, 3, 3, 3, 2, 1, 5, 4],
    }
)
PREDICTED = pl.DataFrame(
    {
        "user": USERS,
        "item": [12, 10, 3, 5, 11, 13, 4, 10, 7, 13, 1, 3, 5, 2, 11, 14, 3, 10],
        "prediction": [12, 14, 13, 12, 11, 10, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 14, 13],
    }
)
TRAIN = pl.DataFrame({"user": [1, 1, 1, 2, 2, 3, 3, 3], "item": [1, 2, 4, 3, 4, 3, 4, 5]})
RECO = pl.DataFrame({"user": [1, 1, 2, 2, 3, 3], "item": [3, 5, 2, 5, 1, 2], "rank": [1, 2] * 3})


def held_out(name: str) -> float:
    """A metric of the predictions, where every item with a rating is relevant."""
    judged = PREDICTED.irm(query="user", doc="item", score="prediction").judge(TRUE.drop("rating"), label=True)
    return value(judged, name)


def rated(name: str) -> float:
    """A metric of all ratings together, of which 3 and more are relevant, with predictions from 0 to 1."""
    score = pl.col("prediction")
    both = TRUE.join(PREDICTED.with_columns((score - score.min()) / (score.max() - score.min())), on=["user", "item"])
    return value(both.irm(query=None, score="prediction", grade="rating", rel=3), name)


def shown(name: str) -> float:
    """A metric of what was recommended beside what was chosen before."""
    return value(RECO.irm(query="user", doc="item", catalogue=TRAIN, popularity=TRAIN), name, average=None)


def value(irm: Any, name: str, **options: Any) -> float:
    found = irm.evaluate(name, **options)["value"].item()
    assert isinstance(found, float)
    return found


HERE: dict[str, tuple[Callable[[str], float], str, float]] = {
    "precision_at_k": (held_out, "precision@10", 0.26666),
    "recall_at_k": (held_out, "recall@10", 0.37777),
    "r_precision_at_k": (held_out, "rprec", 0.37777),
    "ndcg_at_k": (held_out, "ndcg@10", 0.38172),
    "map": (held_out, "map@10", 0.23613),
    "map_at_k": (held_out, "ap(norm='min(k, R)')@10", 0.23613),
    "auc": (rated, "roc_auc", 0.75),
    "logloss": (rated, "log_loss", 0.7835),
    "novelty": (shown, "novelty", 2.83333),
    "catalog_coverage": (shown, "catalog_coverage", 0.8),
    "distributional_coverage": (shown, "distributional_coverage", 1.9183),
}
# Functions that give no measure: they join frames, or have no number of their own.
HELPERS = ("merge_rating_true_pred", "merge_ranking_true_pred", "get_top_k_items")
NOT_HERE = (
    *("rmse", "mae", "rsquared", "exp_var"),
    *("user_diversity", "diversity", "user_item_serendipity", "user_serendipity", "serendipity"),
)


@pytest.mark.parametrize("name", HERE)
def test_its_numbers_come_out(name: str) -> None:
    """To the digits that its tests have."""
    of, metric, expected = HERE[name]
    assert of(metric) == pytest.approx(expected, rel=1e-4)


def test_the_novelty_of_each_item_comes_out() -> None:
    """historical_item_novelty is that of lists of one item each."""
    items = pl.DataFrame({"item": range(1, 6)}).with_columns(list="item", rank=pl.lit(1))
    found = items.irm(query="list", doc="item", popularity=TRAIN).per_query("novelty")["value"].to_list()
    assert found == pytest.approx([3.0, 3.0, 2.0, 1.41504, 3.0], abs=1e-5)


def test_its_page_has_every_function_with_its_metric_or_a_reason() -> None:
    """Tables of the page name those that are here with what to ask for, and the others with why not."""
    rows = [
        line.strip("| ").split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")
    ]
    cells = {name: row for row in rows for name in re.findall(r"`(\w+)`", row[0].split("(")[0] + row[0])}
    for name, (_, metric, _) in HERE.items():
        assert metric in cells[name][1], name
    for name in (*HELPERS, *NOT_HERE, "historical_item_novelty"):
        assert len(cells[name][1]) > 10, name
