"""The threshold at which a metric is best is chosen on rows, and less good on others."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import polars as pl
import pytest

import frame_metrics


@pytest.mark.parametrize(("n", "share", "more"), [(100, 0.5, 0.04), (300, 0.5, 0.02), (100, 0.1, 0.13)])
def test_a_threshold_is_better_on_the_rows_that_it_was_chosen_on(n: int, share: float, more: float) -> None:
    """By as much as the page says, for normal scores that are one deviation higher where rows are relevant."""
    rng, trials = np.random.default_rng(0), 200
    label = rng.random(trials * n) < share
    columns = {"trial": np.repeat(range(trials), n), "label": label, "score": rng.normal(size=trials * n) + label}
    found = pl.DataFrame(columns).irm(by="trial").best_threshold("f1").filter(pl.col("threshold").is_finite())
    at = [NormalDist().cdf(-one) for one in found["threshold"]]
    right = [share * NormalDist().cdf(1 - one) for one in found["threshold"]]
    on_others = [2 * tp / (tp + (1 - share) * fp + share) for tp, fp in zip(right, at, strict=True)]
    assert found["f1"].mean() - np.mean(on_others) == pytest.approx(more, abs=0.01)


@pytest.mark.parametrize("seed", range(8))
def test_a_threshold_is_never_printed_above_the_score_that_it_stands_for(
    seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rounded up it would lose the row of that score: as text, in a report and in a sentence."""
    rng = np.random.default_rng(seed)
    label = rng.random(60) < 0.4
    score = (0.3 * label + rng.normal(size=60)) * 10.0 ** rng.integers(-3, 4)
    irm = pl.DataFrame({"label": label.astype(int), "score": score}).irm(label="label", score="score")
    best = irm.best_threshold("f1")
    threshold = best["threshold"][0]
    frame_metrics.show(best)
    page, said = irm.report(format="md"), irm(threshold=threshold).summary("f1").filter(place=2)["sentence"][0]
    printed = [capsys.readouterr().out.split("\n")[1].split()[0]]
    printed += [page.split("The threshold of the best f1")[1].split("\n")[4].split("|")[1]]
    printed += [said.split(" at threshold ")[1].split(", over")[0]]
    assert all(float(text.replace(",", "")) <= threshold for text in printed)
    assert [float(text.replace(",", "")) for text in printed] == pytest.approx([threshold] * 3, rel=0.01, abs=5e-4)


def test_thresholds_just_below_1_are_printed_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    cases = pl.DataFrame({"label": [1, 0, 1, 0], "score": [0.9999996, 0.9999988, 0.999993, 0.5]})
    frame_metrics.show(cases.irm(label="label", score="score").curve("pr")[["threshold"]])
    assert capsys.readouterr().out.split() == ["threshold", "inf", "0.999999", "0.999998", "0.999993", "0.5"]


@pytest.mark.parametrize(("metric", "threshold"), [("f1", None), ("recall", None), ("accuracy", np.inf)])
def test_without_a_relevant_row_f1_chooses_no_threshold(metric: str, threshold: float | None) -> None:
    """It is 0 at every threshold; accuracy is best where nothing is predicted."""
    cases = pl.DataFrame({"day": [1, 1, 2, 2], "label": [1, 0, 0, 0], "score": [0.9, 0.1, 0.8, 0.2]})
    found = cases.irm(by="day").best_threshold(metric)
    assert found["threshold"].to_list() == [0.9, threshold]
    assert found.select("tp", "fp", "fn", "tn").row(1) == (0, 0, 0, 2)
    assert cases.filter(day=2).irm.report(format="md").startswith("# ")


def test_a_limit_that_only_infinity_meets_leaves_it_the_answer() -> None:
    """Accuracy is 1, .5 and 0 by threshold, so it chooses one, whatever is admissible; f1 is 0 at each."""
    cases = pl.DataFrame({"label": [0, 0], "score": [0.1, 0.3]}).irm()
    for limits in ({"fallout": 0.4}, {"fallout": 0.6}, None):
        assert cases.best_threshold("accuracy", subject_to=limits)["threshold"].to_list() == [np.inf]
        assert cases.best_threshold("f1", subject_to=limits)["threshold"].to_list() == [None]
