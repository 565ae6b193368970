"""The example that chooses a threshold: what it does, and that the docs show what it prints."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from helpers import ROOT, output_of, script

PATH = ROOT / "examples" / "choose_a_threshold.py"
MODELS = ["logistic", "naive Bayes"]


@pytest.fixture(scope="module")
def example() -> Any:
    return script(PATH)


@pytest.fixture(scope="module")
def cases(example: Any) -> pd.DataFrame:
    """The predictions, a row per model and tumour."""
    return example.predict(5)


@pytest.fixture(scope="module")
def printed(example: Any, cases: pd.DataFrame) -> str:
    """What the example prints about them."""
    with pytest.MonkeyPatch.context() as patch:
        lines: list[str] = []
        patch.setattr("builtins.print", lambda *values: lines.append(" ".join(map(str, values))))
        example.report(cases, 0.99)
    return "".join(f"{line}\n" for line in lines)


def test_every_tumour_is_scored_once_by_each_model(cases: pd.DataFrame) -> None:
    """Each model has the 569 tumours, 212 of them malignant, in five folds, and probabilities that sum to 1."""
    assert cases["model"].unique().tolist() == MODELS
    for _, rows in cases.groupby("model"):
        assert rows["actual"].value_counts().to_dict() == {"benign": 357, "malignant": 212}
        assert rows["fold"].value_counts().sort_index().to_dict() == {1: 114, 2: 114, 3: 114, 4: 114, 5: 113}
    assert (cases["malignant"] + cases["benign"]).sub(1).abs().max() < 1e-12


def test_predictions_are_the_same_each_time(example: Any, cases: pd.DataFrame) -> None:
    """A second run gives the same scores."""
    again = example.predict(5)
    assert (again["malignant"] - cases["malignant"]).abs().max() < 1e-9
    pd.testing.assert_frame_equal(again[["model", "fold", "actual"]], cases[["model", "fold", "actual"]])


def test_thresholds_come_from_the_other_folds(example: Any, cases: pd.DataFrame) -> None:
    """The threshold of a fold does not change with the scores in that fold."""
    turned = cases.assign(malignant=cases["malignant"].where(cases["fold"] != 2, 1 - cases["malignant"]))
    decided = example.decide_from_other_folds(cases, 0.99)
    redecided = example.decide_from_other_folds(turned, 0.99)
    for model in MODELS:
        ours, theirs = (frame[(frame["model"] == model) & (frame["fold"] == 2)] for frame in (decided, redecided))
        both = pd.DataFrame({
            "score": [*ours["malignant"], *theirs["malignant"]], "said": [*ours["decided"], *theirs["decided"]]
        })  # fmt: skip
        lowest = both.loc[both["said"] == "malignant", "score"].min()
        assert both.loc[both["said"] == "benign", "score"].max() < lowest
    assert not decided["decided"].equals(redecided["decided"])


def test_chosen_thresholds_keep_the_constraint(example: Any, cases: pd.DataFrame) -> None:
    """A threshold reaches the recall that was asked for, with the best specificity that leaves it."""
    models = example.name_columns(cases)
    best = models.best_threshold("specificity", subject_to={"recall": 0.99})
    every = models.thresholds("specificity", "recall")
    for model, row in best.set_index("model").iterrows():
        allowed = every[(every["model"] == model) & (every["recall"] >= 0.99)]
        assert row["recall"] >= 0.99
        assert row["specificity"] == allowed["specificity"].max()


def test_polars_gives_the_same(example: Any, cases: pd.DataFrame) -> None:
    """The same calls on a polars frame give the same numbers."""
    for asked in ("recall", "cost(fp=1, fn=10)", "informedness"):
        ours = example.name_columns(cases)(threshold=0.5, by="fold").evaluate(asked, margins=True)
        theirs = example.name_columns(pl.from_pandas(cases))(threshold=0.5, by="fold").evaluate(asked, margins=True)
        assert isinstance(theirs, pl.DataFrame)
        assert_frame_equal(pl.from_pandas(ours), theirs, check_dtypes=False)


def test_the_report_goes_from_the_table_to_the_audit(example: Any, printed: str) -> None:
    """Every step is printed, in lines that fit a terminal."""
    for expected in (
        *MODELS,
        example.COST,
        "ci_low",
        "fpr",
        "precision",
        "predicted",
        "ece(bins=5)",
        "score worse than",
    ):
        assert expected in printed
    says = printed.split("What the audit says at 0.5: nothing but facts.\n\n")[1].split("\n\n")[0].splitlines()
    assert len(says) > 5
    assert all(" fact " in line for line in says[1:])
    assert max(map(len, printed.splitlines())) <= 100


def test_its_page_shows_what_is_printed(printed: str) -> None:
    """The output on its page is that of the script; pandas 2 writes None where pandas 3 leaves a gap."""
    assert output_of("choose_a_threshold").split() == [word for word in printed.split() if word != "None"]


def test_docs_show_what_is_printed(printed: str) -> None:
    """The threshold and both recalls of the logistic model that the page on thresholds has are in the output."""
    page = (ROOT / "docs" / "understand" / "thresholds.md").read_text(encoding="utf-8")
    kept, threshold, elsewhere = re.findall(r"0\.\d{3}", page.partition("tumour data")[2])[:3]
    assert re.search(rf"^ *logistic +{threshold} .* {kept}$", printed, flags=re.MULTILINE)
    assert re.search(rf"^ *logistic +pooled 569 .* {elsewhere}$", printed, flags=re.MULTILINE)


def test_main_keeps_the_predictions(example: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--out` keeps the predictions, and the other options reach them."""
    example.main(["--folds", "3", "--recall", "0.95", "--out", str(tmp_path / "cases.parquet")])
    assert pl.read_parquet(tmp_path / "cases.parquet")["fold"].unique().sort().to_list() == [1, 2, 3]
    assert "leaves recall at 0.95 or more" in capsys.readouterr().out


def test_without_scikit_learn_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without scikit-learn the example names the command that installs it."""
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    with pytest.raises(SystemExit, match=re.escape("needs scikit-learn: pip install '.[example]'")):
        script(PATH)
