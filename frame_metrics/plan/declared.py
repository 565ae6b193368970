"""The verbs, each declared once: the rows that it takes, and the roles that it reads or refuses; others are ignored."""

from __future__ import annotations

from frame_metrics.errors import BadValueError, ColumnError, listed
from frame_metrics.plan import compared
from frame_metrics.plan.given import GivenJudgments
from frame_metrics.plan.reads import (
    DECISION_ROLES,
    FILL_ROLES,
    FOR_NUMBERS,
    FOR_PROXIES,
    FOR_QUERIES,
    FOR_ROWS,
    JUDGMENT_ROLES,
    KEY_ROLES,
    NO_COLLECTION_SIZE,
    ORDER_ROLES,
    PROPENSITY_ROLES,
    REFUSED_WITH_PROXY,
    WEIGHT_AND_CLUSTER,
    role_rules,
)
from frame_metrics.plan.verb import Exclusion, Refused, RoleRules, RowKind, Verb
from frame_metrics.roles.roles import RESOURCES, Roles

_BOOTSTRAP = {"method": ("bootstrap",)}
JUDGE = Verb(
    name="judge",
    takes_lists=True,
    kinds={
        "queries": role_rules(
            "queries",
            FOR_QUERIES,
            without="relevant n_relevant label positive group popularity catalogue",
            unless={"subtopic": PROPENSITY_ROLES},
        ),
        "proxies": role_rules("proxies", FOR_QUERIES),
    },
)
EVALUATE = Verb(
    name="evaluate",
    takes_lists=True,
    means=True,
    excludes=(Exclusion("method", " requires ci=", "pass ci=0.95 too", without="ci", error_class=BadValueError),),
    kinds={
        "queries": role_rules("queries", FOR_QUERIES, without="cluster", when={"ci": "cluster"}, values=_BOOTSTRAP),
        "proxies": role_rules(
            "proxies",
            FOR_PROXIES,
            refuses=REFUSED_WITH_PROXY,
            values={"method": ("t", "normal")},
            excludes=(
                Exclusion("layout=wide", " has no room for lambda and n_proxy of each metric", "pass layout='long'"),
            ),
        ),
        "rows": role_rules(
            "rows", FOR_ROWS, without="cluster", when={"ci": "cluster"}, values={"method": ("delong", "bootstrap")}
        ),
        "numbers": role_rules("numbers", FOR_NUMBERS, without="cluster", when={"ci": "cluster"}, values=_BOOTSTRAP),
    },
)
PER_QUERY = Verb(
    name="per_query",
    kinds={
        "queries": role_rules("queries", FOR_QUERIES, without=f"{WEIGHT_AND_CLUSTER} catalogue"),
        "numbers": role_rules("numbers", FOR_NUMBERS, without=WEIGHT_AND_CLUSTER),
    },
)
CLICK_JUDGMENTS = Verb(
    name="click_judgments",
    kinds={
        "queries": role_rules(
            "queries",
            "query system arm by doc rank label grade rel scale duplicates positive propensity",
            unless={"model": "propensity"},
            refuses={"weight": Refused(": click_judgments() counts each impression once")},
        )
    },
)
PROPENSITIES = Verb(
    name="propensities",
    kinds={
        "queries": role_rules(
            "queries",
            "query system arm by doc rank label grade rel scale duplicates positive",
            refuses=dict.fromkeys(
                WEIGHT_AND_CLUSTER.split(),
                Refused(": propensities() draws and counts what was searched, and not impressions"),
            ),
        )
    },
)
_ANNOTATED = {
    "by": Refused(
        " belongs to the results, and annotators are compared over all judgments",
        "pass by=None, and name a column of the judgments, as in agreement(by='device')",
    ),
    **dict.fromkeys(
        WEIGHT_AND_CLUSTER.split(), Refused(": annotators are compared document by document, and queries are drawn")
    ),
}
AGREEMENT = Verb(
    name="agreement",
    kinds={"queries": role_rules("queries", "query doc grade rel scale", refuses=_ANNOTATED)},
)
DISAGREEMENTS = Verb(
    name="disagreements",
    kinds={"queries": role_rules("queries", "query doc grade scale", refuses=_ANNOTATED)},
)
_OF_DECISIONS = f"{KEY_ROLES} doc label relevant n_relevant predicted positive threshold"
_POOLED_HERE = {"weight": Refused(" is the weight of a query, and rows are pooled here")}
PER_CLASS = Verb(
    name="per_class",
    kinds={
        "queries": role_rules(
            "queries", _OF_DECISIONS, when={"ci": "cluster"}, refuses=NO_COLLECTION_SIZE | _POOLED_HERE
        ),
        "rows": role_rules(
            "rows", f"{FOR_ROWS} undefined", without="cluster", when={"ci": "cluster"}, refuses=NO_COLLECTION_SIZE
        ),
    },
)
CONFUSION = Verb(
    name="confusion",
    kinds={
        "queries": role_rules("queries", _OF_DECISIONS, refuses=NO_COLLECTION_SIZE | _POOLED_HERE),
        "rows": role_rules("rows", FOR_ROWS, without="cluster", refuses=NO_COLLECTION_SIZE),
    },
)
_NO_THRESHOLD = {"threshold": Refused(" is one threshold, and every threshold is looked at")}
_OF_EVERY_THRESHOLD: dict[RowKind, RoleRules] = {
    "queries": role_rules(
        "queries",
        f"{KEY_ROLES} {ORDER_ROLES} {JUDGMENT_ROLES} undefined unanswered",
        without="ties",
        refuses=NO_COLLECTION_SIZE | _NO_THRESHOLD | _POOLED_HERE,
    ),
    "rows": role_rules(
        "rows",
        f"{FOR_ROWS} undefined",
        without="cluster predicted classes abstain match",
        refuses=NO_COLLECTION_SIZE | _NO_THRESHOLD,
    ),
}
THRESHOLDS = Verb(name="thresholds", kinds=_OF_EVERY_THRESHOLD)
BEST_THRESHOLD = Verb(name="best_threshold", kinds=_OF_EVERY_THRESHOLD)
# levels= fixes the points of the curve, so that these options have no effect.
_LEVELS = " reads off an interpolated curve, and leaves nothing to {other}"
_OF_CURVES = (
    *(
        Exclusion("levels", _LEVELS, compared.PASS_ONE, by=one, error_class=BadValueError)
        for one in ("points", "interpolated")
    ),
    Exclusion(
        "ci",
        " applies to the mean over queries, and {other} gives each its own",
        compared.PASS_ONE,
        by="per",
        error_class=BadValueError,
    ),
)
CURVE_OF_SCORES = Verb(
    name="curve",
    form="of scores",
    excludes=_OF_CURVES,
    kinds={
        "queries": role_rules(
            "queries",
            f"{KEY_ROLES} {ORDER_ROLES} {JUDGMENT_ROLES} unanswered",
            without="ties",
            refuses=_OF_EVERY_THRESHOLD["queries"].refuses,
        ),
        "rows": role_rules(
            "rows",
            FOR_ROWS,
            without="cluster predicted classes abstain match",
            refuses=_OF_EVERY_THRESHOLD["rows"].refuses,
        ),
    },
)
CURVE_OF_CUTOFFS = Verb(
    name="curve",
    form="of cutoffs",
    excludes=_OF_CURVES,
    kinds={"queries": role_rules("queries", FOR_QUERIES, without="predicted threshold catalogue group")},
)
EXPLAIN = Verb(
    name="explain",
    kinds={
        "queries": role_rules(
            "queries",
            f"{KEY_ROLES} {ORDER_ROLES} {JUDGMENT_ROLES} unanswered popularity extra",
            without="unjudged unjudged_queries",
            refuses={
                "threshold": Refused(" decides about rows, and explain() shows the results of a ranking"),
                "ties=expected": Refused(
                    " is a mean over orders, and explain() shows one order of the results",
                    "pass ties='worst', or name doc=",
                ),
            },
        )
    },
)
_BOUNDED = f"{KEY_ROLES} weight {ORDER_ROLES} {JUDGMENT_ROLES} {FILL_ROLES} {DECISION_ROLES}"
BOUNDS = Verb(
    name="bounds",
    kinds={
        "queries": role_rules(
            "queries", _BOUNDED, unless={"baseline": "collection_size undefined unjudged n_relevant"}
        ),
    },
)
TO_JUDGE = Verb(
    name="to_judge",
    kinds={
        "queries": role_rules(
            "queries", _BOUNDED, without="undefined unjudged collection_size predicted threshold n_relevant"
        )
    },
)
AUDIT = Verb(
    name="audit",
    kinds={
        "queries": role_rules(
            "queries", f"{FOR_QUERIES} team", without="weight extra undefined unjudged_queries group popularity"
        ),
        "proxies": role_rules("proxies", f"{FOR_PROXIES} propensity collection_size", without="weight", ignores="team"),
        "rows": role_rules("rows", FOR_ROWS),
        "numbers": role_rules("numbers", FOR_NUMBERS, without="weight undefined"),
    },
)
SUMMARY = Verb(
    name="summary",
    takes_lists=True,
    kinds={
        "queries": role_rules("queries", FOR_QUERIES, unless={"baseline": "catalogue"}),
        "proxies": role_rules("proxies", f"{FOR_PROXIES} collection_size", refuses=REFUSED_WITH_PROXY),
        "rows": role_rules("rows", f"{FOR_ROWS} doc"),
        "numbers": role_rules("numbers", FOR_NUMBERS),
    },
)
REPORT = Verb(
    name="report",
    takes_lists=True,
    kinds={
        "queries": role_rules("queries", FOR_QUERIES),
        "proxies": role_rules("proxies", FOR_PROXIES, refuses=REFUSED_WITH_PROXY),
        "rows": role_rules("rows", f"{FOR_ROWS} doc"),
        "numbers": role_rules("numbers", FOR_NUMBERS),
    },
)
_AT_ONCE = ": saved numbers are read at once, and only the frame may be read in pieces"
_REFUSED_OF_BASELINE = {
    role: Refused(why, f"name it there, and pass {role}=None here")
    for role, why in {
        "weight": ": the weights of queries are those of the frame",
        "cluster": ": the clusters of queries are those of the frame",
        **dict.fromkeys(RESOURCES, _AT_ONCE),
    }.items()
}
# Rules, and no verbs: what is read of a baseline that is a frame with roles.
BASELINE = Verb(
    name="",
    form="as a baseline",
    kinds={"numbers": role_rules("numbers", f"query value system {FILL_ROLES}", refuses=_REFUSED_OF_BASELINE)},
)
BASELINE_OF_AUDIT = Verb(
    name="audit",
    form="as a baseline",
    kinds={"numbers": role_rules("numbers", "query value", refuses=_REFUSED_OF_BASELINE)},
)
BASELINE_OF_LISTS = Verb(
    name="similarity",
    form="as a baseline",
    kinds={"queries": role_rules("queries", "query doc score rank", refuses=_REFUSED_OF_BASELINE)},
)
_CONSTANTS = (*vars().values(), *vars(compared).values())  # of this module and the other one with verbs
VERBS = {one.title: one for one in _CONSTANTS if isinstance(one, Verb)}


def verbs_that_take(rows: RowKind) -> list[str]:
    """Return the names of the verbs that take rows of a kind."""
    return list(dict.fromkeys(one.name for one in VERBS.values() if one.name and rows in one.kinds))


def refused_by(verb: str) -> frozenset[str]:
    """Return the roles that a verb refuses of all rows that it takes; ``verb``: its name."""
    every = [
        kind.impossible | {*kind.refuses} for one in VERBS.values() if one.name == verb for kind in one.kinds.values()
    ]
    return frozenset.intersection(*every) if every else frozenset()


VERBS_OF_NUMBERS, VERBS_OF_PROXIES = verbs_that_take("numbers"), verbs_that_take("proxies")


def check_rows(verb: str, roles: Roles, judgments: GivenJudgments | None) -> None:
    """Raise for numbers, or two sets of judgments, for a verb that takes none; ``verb``: its name."""
    if verb not in VERBS_OF_NUMBERS and roles.get("value") is not None:
        raise ColumnError(
            f"{verb}() has no use for value=, whose numbers were computed already; {listed(VERBS_OF_NUMBERS)} take them"
        )
    if judgments is not None and verb not in VERBS_OF_PROXIES and judgments[1].get("proxy") is not None:
        others = [f"{one}()" for one in VERBS_OF_PROXIES if one != "judge"]
        raise ColumnError(
            f"{verb}() reads one set of judgments, and proxy= is a second one: {', '.join(others[:-1])} and "
            f"{others[-1]} take both; for the others judge() by one of them, without proxy="
        )
