"""Figures about decisions, classes and scores from the tests and docs of other tools, against ours."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import polars as pl
import pytest

from frame_metrics import IRM
from helpers import DATA, real

Case: TypeAlias = dict[str, Any]
Way: TypeAlias = Callable[[Case], Any]

TASKS = ("confusion", "classification", "scores", "sklearn")
PATH = DATA / "peer_cases.json"
CASES = {c["id"]: c for c in json.loads(PATH.read_text()) if c["task"] in TASKS} if PATH.exists() else {}

# A case is read into a frame, asked in our words, and compared


def of_matrix(inputs: dict[str, Any], positive: str) -> IRM[pl.DataFrame]:
    """A table of true and predicted classes, as a frame with a row per pair, which weighs its count."""
    rows = [(t, p, n) for t, row in inputs["matrix_truth_rows"].items() for p, n in row.items()]
    frame = pl.DataFrame(rows, schema=["label", "predicted", "n"], orient="row")
    return IRM(frame, weight="n", positive=positive)


def with_scores(truth: Sequence[Any], scores: Sequence[Sequence[float]], classes: Sequence[Any]) -> IRM[pl.DataFrame]:
    """Scores of several classes; the greatest is the prediction."""
    columns = {f"score of {c}": [row[i] for row in scores] for i, c in enumerate(classes)}
    said = [classes[max(range(len(classes)), key=row.__getitem__)] for row in scores]
    frame = pl.DataFrame({"label": truth, "predicted": said, **columns}, strict=False)
    return IRM(frame, score={c: f"score of {c}" for c in classes}, predicted="predicted")


def of_file(inputs: dict[str, Any]) -> IRM[pl.DataFrame]:
    """Columns of a file, with weights beside them, or only the rows that a filter keeps."""
    frame = pl.read_csv(real(inputs["file"]))
    if "weights_file" in inputs:
        frame = frame.hstack(pl.read_csv(real(inputs["weights_file"])))
    for column, values in inputs.get("filter", {}).items():
        frame = frame.filter(pl.col(column).is_in(values))
    roles: dict[str, Any] = {"label": inputs["truth"], "weight": "w" if "weights_file" in inputs else None}
    roles |= {"predicted": inputs["pred"]} if "pred" in inputs else {}
    scores = inputs.get("class_scores")
    if isinstance(scores, str):
        scores = [name for name in frame.columns if name not in (inputs["truth"], "response")]
    if scores:
        roles["score"] = {name: name for name in scores}
    if "class_order" in inputs:
        roles["classes"] = inputs["class_order"]
    if "positive" in inputs:
        roles |= {"positive": inputs["positive"], "score": inputs["score"]}
    return IRM(frame, **roles)


def of_rows(case: Case) -> IRM[pl.DataFrame]:
    """Rows that the case lists itself."""
    inputs, params = case["inputs"], case["params"]
    truth = inputs.get("truth", inputs.get("label"))
    if "class_scores" in inputs:
        classes = sorted(set(truth)) if isinstance(truth[0], str) else list(range(params["num_classes"]))
        return with_scores(truth, inputs["class_scores"], classes)
    columns = {"label": truth, "predicted": inputs.get("pred"), "score": inputs.get("score"), "w": inputs.get("weight")}
    frame = pl.DataFrame({name: values for name, values in columns.items() if values is not None})
    several = len(set(truth)) > 2
    positive = params.get("class", params.get("positive"))
    return IRM(
        frame,
        positive=None if several else positive,
        threshold=params.get("threshold"),
        weight="w" if "weight" in inputs else None,
    )


def name_of(case: Case) -> str:
    """The case's metric with its parameters, as we write them."""
    params = case["params"]
    name = {"f_beta": "fbeta"}.get(case["metric"], case["metric"])
    given = {"beta": params["beta"]} if "beta" in params else {}
    given |= {"weights": params["weighting"]} if "weighting" in params else {}
    given |= {"multi": "ovo"} if params.get("average") == "hand_till" else {}
    words = ", ".join(f"{key}={value!r}" for key, value in given.items())
    return name + (f"({words})" if words else "")


def asked(irm: IRM[pl.DataFrame], name: str, average: str | None) -> Any:
    """One value, or without an average one of each class."""
    if average is None:
        return irm.per_class(name)["value"].to_list()
    over: Any = average if average in ("micro", "weighted") else None  # else the mean over classes, or of two, pooled
    return irm.evaluate(name, average=over)["value"].item()


def value_of(irm: IRM[pl.DataFrame], name: str) -> float:
    """Our value over all."""
    found: float = irm.evaluate(name)["value"].item()
    return found


def source_of(case: Case) -> IRM[pl.DataFrame]:
    """The case's rows with their roles."""
    inputs = case["inputs"]
    if case["task"] == "confusion":
        return of_matrix(inputs, case["params"]["class"])
    return of_file(inputs) if "file" in inputs else of_rows(case)


def curve_of(case: Case) -> dict[str, list[float]]:
    """The points of a curve under the peer's names."""
    kind, irm = case["metric"].removesuffix("_curve"), of_rows(case)
    if kind == "roc":
        return irm.curve("roc").to_dict(as_series=False)
    # scikit-learn's points go the other way, and the last has no threshold.
    points = irm.curve("pr").reverse().to_dict(as_series=False)
    return points | {"threshold": points["threshold"][:-1]}


# scikit-learn's own functions, by argument names


def decided(case: Case, **roles: Any) -> IRM[pl.DataFrame]:
    """y_true and y_pred as rows."""
    inputs = case["inputs"]
    return IRM(pl.DataFrame({"label": inputs["y_true"], "predicted": inputs["y_pred"]}), **roles)


def average_of(name: str) -> Way:
    """A measure that is averaged over classes, or is of two."""

    def value(case: Case) -> Any:
        params = case["params"]
        words = f"{name}(beta={params['beta']})" if "beta" in params else name
        roles = {"undefined": "one"} if params.get("zero_division") == 1 else {}
        return asked(decided(case, **roles), words, params.get("average", "macro"))

    return value


def gain_of(case: Case) -> float:
    """dcg and ndcg of the listed documents."""
    inputs, name = case["inputs"], case["metric"].removeprefix("sklearn:").removesuffix("_score")
    (grades,), (scores,) = inputs["y_true"], inputs["y_score"]
    cutoff = f"@{case['params']['k']}" if "k" in case["params"] else ""
    frame = pl.DataFrame({"query": 1, "score": scores, "grade": grades}, strict=False)
    return value_of(IRM(frame), name + cutoff)


def matrix_of(case: Case) -> list[list[int]]:
    """Counts, a list for each true class."""
    table = decided(case).confusion().sort("actual", "predicted")
    return [part["n"].to_list() for part in table.partition_by("actual", maintain_order=True)]


def several_of(case: Case) -> list[float | None]:
    """Precision, recall and F; in the place of the support, which an average has not, nothing."""
    result = decided(case).evaluate("precision", "recall", "f1", average=case["params"]["average"])
    return [*result["value"], None]


def ratios_of(case: Case) -> list[float]:
    """Both likelihood ratios; the relevant class is the last in the alphabet."""
    irm = decided(case, positive=max(case["inputs"]["y_true"]))
    return irm.evaluate("lr_positive", "lr_negative")["value"].to_list()


def score_of(name: str) -> Way:
    """Scores of two classes; where each has a column, that of the last in the alphabet."""

    def value(case: Case) -> float:
        inputs = case["inputs"]
        truth, score = inputs["y_true"], inputs.get("y_score", inputs.get("y_proba"))
        score = [row[-1] if isinstance(row, list) else float(row) for row in score]
        return value_of(IRM(pl.DataFrame({"label": truth, "score": score}), positive=max(truth)), name)

    return value


SKLEARN: dict[str, Way] = {
    "accuracy_score": average_of("accuracy"),
    "average_precision_score": score_of("average_precision"),
    "brier_score_loss": score_of("brier"),
    "class_likelihood_ratios": ratios_of,
    "confusion_matrix": matrix_of,
    "dcg_score": gain_of,
    "f1_score": average_of("f1"),
    "fbeta_score": average_of("fbeta"),
    "hamming_loss": average_of("error_rate"),
    "jaccard_score": average_of("jaccard"),
    "log_loss": score_of("log_loss"),
    "ndcg_score": gain_of,
    "precision_recall_fscore_support": several_of,
    "precision_score": average_of("precision"),
    "recall_score": average_of("recall"),
    "zero_one_loss": average_of("error_rate"),
}


def plainly(case: Case) -> Any:
    """The case in our words, with nothing else said."""
    if case["task"] == "sklearn":
        return SKLEARN[case["metric"].removeprefix("sklearn:")](case)
    if case["metric"].endswith("_curve"):
        return curve_of(case)
    return asked(source_of(case), name_of(case), case["params"].get("average", "macro"))


# Ways to a figure that is not ours by default


def all_classes(**roles: Any) -> Way:
    """The case with its classes named, those that are never true too."""

    def value(case: Case) -> Any:
        irm = source_of(case)(classes=list(range(case["params"]["num_classes"])), **roles)
        return asked(irm, name_of(case), case["params"]["average"])

    return value


def by_other(name: str) -> Way:
    """The case with another measure."""
    return lambda case: asked(source_of(case), name, case["params"].get("average", "macro"))


def summed(case: Case) -> float:
    """The mean, times what the rows weigh."""
    inputs = case["inputs"]
    weights = pl.read_csv(real(inputs["weights_file"]))["w"].sum() if "weights_file" in inputs else None
    result = source_of(case).evaluate(name_of(case))
    return float(result["value"].item() * (result["n"].item() if weights is None else weights))


def number_of_errors(case: Case) -> float:
    """The share of wrong rows, times their number."""
    result = decided(case).evaluate("error_rate")
    return float(result["value"].item() * result["n"].item())


def in_every_order(case: Case) -> float:
    """Two tied documents: the mean of their two orders, the worst and the best."""
    (grades,), (scores,) = case["inputs"]["y_true"], case["inputs"]["y_score"]
    frame = pl.DataFrame({"query": 1, "score": scores, "grade": grades})
    return sum(value_of(IRM(frame, ties=ties), f"dcg@{case['params']['k']}") for ties in ("worst", "best")) / 2


def labels_of(case: Case, other: str) -> pl.DataFrame:
    """Rows of several labels, a row for each label."""
    truth, values = case["inputs"]["y_true"], case["inputs"][f"y_{other}"]
    cells = [(i, j, t, values[i][j]) for i, row in enumerate(truth) for j, t in enumerate(row)]
    names = {"row": pl.Int64, "place": pl.Int64, "label": pl.Int64, {"pred": "predicted"}.get(other, other): pl.Float64}
    return pl.DataFrame(cells, schema=names, orient="row")


def label_by_label(name: str) -> Way:
    """The measure at each place of the labels, or the mean over them."""

    def value(case: Case) -> Any:
        found = IRM(labels_of(case, "pred"), by="place").evaluate(name)["value"].to_list()
        return found if case["params"]["average"] is None else sum(found) / len(found)

    return value


def rows_that_are_right(case: Case) -> float:
    """The share of rows all of whose labels are right: those with an accuracy of 1."""
    result = IRM(labels_of(case, "pred"), query="row", predicted="predicted").per_query("accuracy")
    return sum(value == 1 for value in result["value"]) / len(result)


def wrong_labels(case: Case) -> float:
    """The share of wrong labels."""
    return value_of(IRM(labels_of(case, "pred")), "error_rate")


def places_of_labels(case: Case) -> float:
    """ap, each row being a query and its labels the documents."""
    return value_of(IRM(labels_of(case, "score"), query="row"), "ap")


def pairs_of_labels(case: Case) -> float:
    """The share of pairs of labels in the wrong order: 1 - roc_auc, each row being a query."""
    return 1 - value_of(IRM(labels_of(case, "score"), query="row"), "roc_auc")


def among_the_first(case: Case) -> float:
    """success@k, each row being a query and its classes the documents."""
    truth, score = case["inputs"]["y_true"], case["inputs"]["y_score"]
    cells = [(i, t == c, s) for i, t in enumerate(truth) for c, s in enumerate(score[i])]
    frame = pl.DataFrame(cells, schema=["query", "label", "score"], orient="row")
    return value_of(IRM(frame, ties="order"), f"success@{case['params']['k']}")


class Other(NamedTuple):
    """Cases whose figure is not ours by default."""

    cases: str
    reason: str
    way: Way  # what gives the peer's figure here


DIFFERING = (
    Other(
        "c0912 c0914",
        "accuracy of several classes is in torchmetrics the mean of their recalls; ours is the share of right rows",
        by_other("balanced_accuracy"),
    ),
    Other("c0915", "accuracy of a class is its recall in torchmetrics; ours is its table's", by_other("recall")),
    Other(
        "c0917 c0918",
        "a class without rows has an AUC of 0 in torchmetrics; ours is no class, and undefined where classes= names it",
        all_classes(undefined="zero"),
    ),
    Other(
        "c0921",
        "a class without rows has an average precision of NaN in torchmetrics; ours is no class, and 0 where named",
        all_classes(undefined="null"),
    ),
    Other("c1048", "a number of wrong rows; ours is their share", number_of_errors),
    Other("c1021", "equal scores are averaged over in scikit-learn; ours stand in the worst order", in_every_order),
    Other("c1170 c1171 c1175", "a sum of losses; ours is their mean", summed),
)
# What has another shape of rows, or another name for what follows from ours.
BUILT = (
    Other("c0972", "several labels for a row; ours are rows of one label each", rows_that_are_right),
    Other("c1004", "several labels for a row", label_by_label("recall")),
    Other("c1008 c1009", "several labels for a row", label_by_label("jaccard")),
    Other("c1046", "several labels for a row", wrong_labels),
    Other("c1040", "label ranking average precision is not among our names", places_of_labels),
    Other("c1044", "label ranking loss is not among our names", pairs_of_labels),
    Other("c1041", "top k accuracy is not among our names", among_the_first),
)
DIFFERS = {case: other for other in DIFFERING for case in other.cases.split()}
BUILDS = {case: other for other in BUILT for case in other.cases.split()}


def close(mine: Any, theirs: Any, tolerance: float) -> bool:
    """Whether values, lists or columns of them are equal within a tolerance; "nan" is null here."""
    if isinstance(theirs, Mapping):
        return mine.keys() == theirs.keys() and all(close(mine[name], theirs[name], tolerance) for name in theirs)
    if isinstance(theirs, list):
        return len(mine) == len(theirs) and all(close(*both, tolerance) for both in zip(mine, theirs, strict=True))
    if theirs in (None, "nan"):
        return mine is None
    expected = math.inf if theirs == "inf" else theirs
    return mine is not None and (mine == expected or abs(mine - expected) <= tolerance)


def by_hand(metric: str, expected: Any, task: str = "classification", /, *, of: Any = None, **params: Any) -> Case:
    """A case of our own, so that one is compared where the peers' are absent: two of four rows are right."""
    inputs = of or {"truth": [1, 1, 0, 0], "pred": [1, 0, 1, 0]}
    rest = {"inputs": inputs, "query": None, "tolerance": 1e-9}
    return {"id": f"by hand: {metric}", "task": task, "metric": metric, "params": params, "expected": expected, **rest}


CROSSED = {"matrix_truth_rows": {"x": {"x": 2, "y": 1}, "y": {"x": 0, "y": 1}}}
LABELS = {"y_true": [[1, 0], [0, 1]], "y_pred": [[1, 0], [1, 1]]}
HALF_RIGHT = {"y_true": [1, 1, 0, 0], "y_pred": [1, 0, 1, 0]}
ALIKE = [
    by_hand("precision", 1 / 2, kind="binary"),
    by_hand("roc_auc", 3 / 4, "scores", of={"truth": [0, 1, 0, 1], "score": [0.1, 0.3, 0.4, 0.8]}, kind="binary"),
    by_hand("recall", 2 / 3, "confusion", of=CROSSED, **{"class": "x"}),
    *(case for name, case in CASES.items() if name not in {**DIFFERS, **BUILDS}),
]
UNLIKE = [
    (by_hand("sklearn:zero_one_loss", 2.0, "sklearn", of=HALF_RIGHT, normalize=False), DIFFERS["c1048"]),
    *((CASES[name], other) for name, other in DIFFERS.items() if name in CASES),
]
OURS = [
    (by_hand("sklearn:hamming_loss", 1 / 4, "sklearn", of=LABELS), BUILDS["c1046"]),
    *((CASES[name], other) for name, other in BUILDS.items() if name in CASES),
]


def test_every_case_is_compared_or_has_its_reason() -> None:
    """No figure of a peer is passed over: it is ours too, or stands in a table of those that are not."""
    real("peer_cases.json")
    assert len(CASES) == 130
    named_cases = [case for other in (*DIFFERING, *BUILT) for case in other.cases.split()]
    assert len(named_cases) == len(set(named_cases))
    assert set(named_cases) <= CASES.keys()


@pytest.mark.parametrize("case", ALIKE, ids=lambda case: case["id"])
def test_figures_of_peers_are_ours(case: Case) -> None:
    """What another tool's tests or docs expect is what we give by default."""
    mine = plainly(case)
    assert close(mine, case["expected"], case["tolerance"]), (mine, case["expected"])


@pytest.mark.parametrize(("case", "other"), UNLIKE, ids=[case["id"] for case, _ in UNLIKE])
def test_figures_of_peers_that_differ(case: Case, other: Other) -> None:
    """Where another tool's convention is not ours, neither is its figure, and the table says what gives it."""
    assert not close(plainly(case), case["expected"], case["tolerance"])
    mine = other.way(case)
    assert close(mine, case["expected"], case["tolerance"]), (mine, case["expected"])


@pytest.mark.parametrize(("case", "other"), OURS, ids=[case["id"] for case, _ in OURS])
def test_figures_of_peers_that_are_built_from_ours(case: Case, other: Other) -> None:
    """What is not among our measures follows from them."""
    mine = other.way(case)
    assert close(mine, case["expected"], case["tolerance"]), (mine, case["expected"])
