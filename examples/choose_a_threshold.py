"""Choose the threshold of a test for cancer: from a 2x2 table to what it is worth.

The cases are the 569 tumours of the Wisconsin breast cancer data that come with
scikit-learn, 212 of them malignant. Two classifiers give each tumour a probability of
being malignant, in a cross-validation: every probability is from a model that has not
seen the tumour. To miss a malignant tumour is worse than to look again at a benign one,
so 0.5 need not be the threshold.

    pip install '.[example]'
    python examples/choose_a_threshold.py [--folds FOLDS] [--recall LEAST] [--out FILE]

The frames are of pandas; the calls of `frame_metrics` are the same for polars.
"""

import argparse
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

import frame_metrics  # noqa: F401 (gives every frame its .irm)

try:
    from sklearn.base import ClassifierMixin
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
except ImportError:
    sys.exit("This example needs scikit-learn: pip install '.[example]'")

MISSED = 10  # what a missed malignant tumour costs, where a false alarm costs 1
COST = f"cost(fp=1, fn={MISSED})"


# 1. The predictions: a row is what one model says of one tumour.


def classifiers() -> dict[str, ClassifierMixin]:
    """Two models with the same numbers on every machine: neither stops early."""
    logistic = LogisticRegression(solver="newton-cholesky", tol=1e-10, max_iter=1000)
    return {
        "logistic": make_pipeline(StandardScaler(), logistic),
        "naive Bayes": GaussianNB(),
    }


def predict(folds: int) -> pd.DataFrame:
    """Cross-validate: a tumour is scored by models that were fitted to other folds."""
    data = load_breast_cancer(as_frame=True)
    actual = pd.Series(data.target_names[data.target])
    parts = []
    for name, model in classifiers().items():
        splits = StratifiedKFold(folds, shuffle=True, random_state=0)
        for fold, (seen, unseen) in enumerate(splits.split(data.data, actual), 1):
            model.fit(data.data.iloc[seen], actual[seen])
            chances = model.predict_proba(data.data.iloc[unseen])
            scores = pd.DataFrame(chances, columns=model.classes_)
            said = {"model": name, "fold": fold, "actual": actual[unseen].to_numpy()}
            parts.append(pd.DataFrame({**said, **scores}))
    return pd.concat(parts, ignore_index=True)


def name_columns(cases: Any) -> Any:
    """Say once what each column is."""
    return cases.irm(
        label="actual", positive="malignant", score="malignant", system="model"
    )


# 2. The choice, on tumours that do not judge it.


def decide_from_other_folds(cases: pd.DataFrame, least: float) -> pd.DataFrame:
    """Decide in each fold by the threshold that is best in the others."""
    parts = []
    for fold, here in cases.groupby("fold"):
        others = name_columns(cases[cases["fold"] != fold])
        best = others.best_threshold("specificity", subject_to={"recall": least})
        chosen = here["model"].map(best.set_index("model")["threshold"])
        said = (here["malignant"] >= chosen).map({True: "malignant", False: "benign"})
        parts.append(here.assign(decided=said))
    return pd.concat(parts)


# 3. The report.


def show(says: str, table: pd.DataFrame) -> None:
    print(f"\n{textwrap.fill(says, 100)}\n")
    print(table.to_string(index=False, float_format="{:.3g}".format, na_rep=""))


def without_counts(wide: pd.DataFrame) -> pd.DataFrame:
    """Leave out how many values are undefined, which is 0 everywhere here."""
    return wide.drop(columns=wide.filter(regex="_undefined$").columns)


def report(cases: pd.DataFrame, least: float) -> None:
    """Print the tables, from what 0.5 decides to what a chosen threshold does."""
    models = name_columns(cases)
    at_half = models(threshold=0.5)
    show("Predicted malignant from 0.5 on: the table of counts.", at_half.confusion())
    rates = ("recall", "specificity", "precision", "informedness")
    folds = at_half(by="fold").evaluate(
        *rates, "tp", "fp", "fn", "tn", margins=True, layout="wide"
    )
    folds = without_counts(folds)
    show("Fold by fold, and all rows where total_over says fold.", folds)
    whole = at_half.evaluate(*rates, ci=0.95)
    show("All folds, with 95 % intervals over tumours.", whole)
    order = models.evaluate(
        "roc_auc", "roc_auc(max_fpr=0.1)", "average_precision", "ks", layout="wide"
    )
    show("The order of the scores, whatever the threshold.", without_counts(order))
    one = cases[cases["model"] == "logistic"].irm(
        label="actual", positive="malignant", score="malignant"
    )
    roc = one.curve("roc", points=12)
    show("The ROC curve of the logistic model, thinned to 12 points.", roc)
    show("Its precision-recall curve.", one.curve("pr", points=12))
    best = models.best_threshold("informedness")
    show("The threshold with the best informedness.", best)
    show(
        f"The cheapest one, if a missed tumour costs {MISSED} times a false alarm.",
        models.best_threshold(COST),
    )
    bound = models.best_threshold("specificity", subject_to={"recall": least})
    show(f"The best specificity that leaves recall at {least:g} or more.", bound)
    decided = name_columns(decide_from_other_folds(cases, least))(
        score=None, predicted="decided"
    )
    show(
        "The same rule with each fold decided by the threshold of the other folds. "
        "This is what to expect of new tumours: a threshold looks best on the rows "
        "that it was chosen on.",
        without_counts(decided.evaluate("specificity", "recall", layout="wide")),
    )
    show("Are the probabilities true? By bins:", models.curve("calibration", bins=5))
    true = models.evaluate("ece(bins=5)", "brier", "log_loss", layout="wide")
    show(
        "In one number: ece is 0 if they are; brier and log_loss are the less the "
        "surer they rightly are, too.",
        without_counts(true),
    )
    facts = at_half.audit().drop(columns=["example", "message"])
    show("What the audit says at 0.5: nothing but facts.", facts)
    wrong = at_half(score="benign").audit().query("severity == 'warning'")
    show(
        "It warns with the column of the other class taken for the score.",
        wrong.drop(columns="message"),
    )
    print(f"\n{textwrap.fill(wrong['message'][0], 100)}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description="Choose the threshold of a test for cancer."
    )
    parser.add_argument(
        "--folds", type=int, default=5, help="parts of the cross-validation (5)"
    )
    parser.add_argument(
        "--recall",
        type=float,
        default=0.99,
        help="the least recall of the constrained choice (0.99)",
    )
    parser.add_argument(
        "--out", type=Path, help="a Parquet file that keeps the predictions"
    )
    options = parser.parse_args(arguments)
    cases = predict(options.folds)
    if options.out:
        cases.to_parquet(options.out)
    report(cases, options.recall)


if __name__ == "__main__":
    main()
