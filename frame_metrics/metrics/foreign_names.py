"""Names of measures that other libraries have and we do not: the call to make here."""

from __future__ import annotations

import re
from collections.abc import Mapping

from frame_metrics.errors import did_you_mean

AP = "; ask for 'ap' with a query for each row of labels, and a result for each of its labels: query=, score=, label="
OF_CONTEXTS = (
    "; ask for \"ap(norm='found')\" (whether what is relevant stands first, of what was found), 'ap' (of all that is "
    "relevant, found or not) or 'precision@5' (the share of the first 5 contexts that is relevant)"
)
SQUARED, LINEAR = (did_you_mean(f"kappa(weights={how!r})") for how in ("quadratic", "linear"))
OF_TEAMS = "; it is a column of interleaving(), whose metric credits the teams: ask for 'clicks'"
# Names as ``plain_name`` returns them, and the end of the message.
CALLED = {
    "lrap": AP,
    "wins": OF_TEAMS,
    "preference": OF_TEAMS,
    "labelrankingaverageprecision": AP,
    "labelrankingaverageprecisionscore": AP,
    "contextprecision": OF_CONTEXTS,
    "contextrecall": did_you_mean("recall"),
    "recallcap": did_you_mean("relative_precision"),
    "rcap": did_you_mean("relative_precision"),
    "cappedrecall": did_you_mean("relative_precision"),
    "topdecilelift": did_you_mean("lift(top=0.1)"),
    "decilelift": did_you_mean("lift(top=0.1)"),
    "cumulativelift": did_you_mean("lift(top=0.1)"),
    "cumulativegain": did_you_mean("recall(top=0.1)"),
    "cumulativegains": did_you_mean("recall(top=0.1)"),
    "capturerate": did_you_mean("recall(top=0.1)"),
    "matthewscorrcoef": did_you_mean("mcc"),
    **dict.fromkeys(("macroaccuracy", "accuracymacro"), did_you_mean("balanced_accuracy")),
    **dict.fromkeys(("weightedkappa", "quadraticweightedkappa", "quadratickappa", "qwk", "kappaquadratic"), SQUARED),
    **dict.fromkeys(("linearweightedkappa", "linearkappa", "kappalinear"), LINEAR),
    "matthewscorrelationcoefficient": did_you_mean("mcc"),
}
TOP_K = re.compile(r"top(k|\d+)(?:categorical)?accuracy(?:score)?")  # of scikit-learn and Keras, and top_5_accuracy
PERCENT = re.compile(r"(\d+(?:\.\d+)?) ?(?:%|percent|pct)")  # of the rows, as in lift_top_10pct and precision@10%
# What a name with a percentage is a measure of, by words in it.
OF_PERCENT = {
    "precision": "precision",
    "recall": "recall",
    "gain": "recall",
    "lift": "lift",
    "enrichment": "lift",
    "ef": "lift",
}
# Averages over classes in a name, as in scikit-learn's reports and in torchmetrics.
AVERAGE = "(?P<average>macro|micro|weighted)(?:averaged|average|avg)?"
AVERAGED = re.compile(f"{AVERAGE}(?P<of>.+)"), re.compile(f"(?P<of>.+?){AVERAGE}")


def share_in(text: str) -> str:
    """Return the percentage that a text names, as a share: "0.1" for "10%"; "" if there is none above 0, up to 100."""
    found = PERCENT.search(text)
    return f"{float(found[1]) / 100:g}" if found and 0 < float(found[1]) <= 100 else ""


def called_here(given: str, of_each_class: Mapping[str, str]) -> str:
    """Return the end of a message on a measure that has another name here, or none; "" for any other name.

    Parameters
    ----------
    given : the name, as ``plain_name`` returns it.
    of_each_class : the metrics that are averages over classes where there are several, by their names in this form.
    """
    if given in CALLED:
        return CALLED[given]
    of_share = next((measure for word, measure in OF_PERCENT.items() if word in given), None)
    if of_share and (share := share_in(given)):
        return did_you_mean(f"{of_share}(top={share})")
    if top := TOP_K.fullmatch(given):
        return did_you_mean(f"top_k_accuracy@{'5' if top[1] == 'k' else top[1]}")
    of, average = average_in(given, of_each_class)
    return f"; ask for {of!r} with average={average!r}" if of else ""


def average_in(given: str, of_each_class: Mapping[str, str]) -> tuple[str, str]:
    """Return the metric of a name that has an average over classes in it, and the average; "" for another name.

    The name and the metrics are those of ``called_here``.
    """
    for pattern in AVERAGED:
        match = pattern.fullmatch(given)
        if given not in CALLED and match and match["of"] in of_each_class:
            return of_each_class[match["of"]], match["average"]
    return "", ""
