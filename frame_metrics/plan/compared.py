"""The verbs that compare, declared: tests and roles of each kind of rows, and options that exclude each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from frame_metrics.plan.reads import (
    FOR_NUMBERS,
    FOR_PROXIES,
    FOR_QUERIES,
    FOR_ROWS,
    KEY_ROLES,
    NO_COLLECTION_SIZE,
    ORDER_ROLES,
    REFUSED_WITH_PROXY,
    WEIGHT_AND_CLUSTER,
    role_rules,
)
from frame_metrics.plan.verb import Exclusion, Refused, Verb

ComparisonKind = Literal["queries", "proxies", "arms", "rows", "rows of arms"]
WEIGHT_AND_CLUSTER_ROLES = tuple(WEIGHT_AND_CLUSTER.split())
MID_P = "mcnemar_mid_p"  # the test of values of 0 and 1
# The tests of each kind of comparison, the default first, and the roles or options that each takes beside the values.
TESTS: dict[ComparisonKind, dict[str, Sequence[str]]] = {
    "queries": {
        "randomization": WEIGHT_AND_CLUSTER_ROLES,
        "t": (),
        "wilcoxon": (),
        "sign": (),
        "bootstrap": WEIGHT_AND_CLUSTER_ROLES,
        MID_P: (),
    },
    "proxies": {"t": WEIGHT_AND_CLUSTER_ROLES, "z": WEIGHT_AND_CLUSTER_ROLES},
    "arms": dict.fromkeys(("randomization", "t", "z", "bootstrap"), (*WEIGHT_AND_CLUSTER_ROLES, "covariate")),
    "rows": {MID_P: (), "mcnemar": (), "delong": (), "fisher": (), "bootstrap": WEIGHT_AND_CLUSTER_ROLES},
    "rows of arms": {"delong": (), "bootstrap": WEIGHT_AND_CLUSTER_ROLES},
}
# As "arm='arm' requires queries of each arm's own, and leaderboard() ranks systems on the same ones".
_OWN_QUERIES = " requires queries of each arm's own, and {} the same ones"
_USE_AB_TEST = "use ab_test() for units that were assigned to arms at random, or change() for two periods"
_NO_ARM_WITH_PROXY = {
    "arm": Refused(
        " has queries of each arm, and proxy= estimates the difference of systems over the same queries",
        "pass arm=None, or judge() without proxy=",
    )
}
PASS_ONE = "pass one of them"
_EACH_QUERY = Exclusion(
    "test correction over ci", " applies to the difference of means", "pass per_query=False", by="per_query"
)
_LOOKS = (
    Exclusion("first_look", " requires several looks", "pass looks='any'", without="looks"),
    Exclusion("looks", " has its own test", "leave {other} out, or pass looks=None", by="test"),
    Exclusion(
        "strata",
        " cannot be used with {other}",
        "pass one of them, or cut the covariate into a few groups, and pass these as one more column of strata",
        by="covariate",
    ),
    Exclusion("strata", " requires a single look, and cannot be used with {other}", PASS_ONE, by="looks"),
)
_MARGIN = (
    Exclusion("margin", " cannot be used with {other}, which is no system that could lose", PASS_ONE, by="against"),
    Exclusion(
        "margin", " cannot be used with {other}, which lists the differences of queries", PASS_ONE, by="per_query"
    ),
    *(
        Exclusion(
            "margin",
            " cannot be used with {other}, which does not look at the size of a mean",
            "pass another test",
            by=f"test={test}",
        )
        for test in ("wilcoxon", "sign", "fisher")  # they say nothing of how large a difference is
    ),
)


def _arms_refused(does: str) -> dict[str, Refused]:
    """Return the refusal of arms by a verb of systems; ``does``: what the verb does with systems, as the error ends."""
    return {"arm": Refused(_OWN_QUERIES.format(does), _USE_AB_TEST)}


_NO_MATCH = {
    "match": Refused(
        " chooses the classes of the clusters of each side anew",
        "pass match=None, and name a column of classes",
    )
}
_ARMS_IN_PAIRS = _arms_refused("compare() pairs what systems did for")
# The end of errors about saved numbers, a frame as the baseline.
_SAVED = "baseline= as a frame"
_NO_QUERY = Exclusion("saved", " is one number per query, and there is no query", "name query=", what=_SAVED)
_OF_ONE_KIND = Exclusion(
    "saved",
    " has numbers of one kind of judgments, and proxy= estimates the difference of systems by two",
    "leave it out, or judge() without proxy=",
    what=_SAVED,
)
_WITH_QUERY = Exclusion(
    "against",
    " tests rows that are counted together, and there is a query",
    "pass query=None to pool them, or compare systems without against=",
)
_OF_QUERIES = (
    Exclusion("looks", " requires query=", "name the column of queries"),
    Exclusion("covariate strata", " requires query=", "name the column of queries"),
)
_NO_CLASSES = Exclusion(
    "per_class", " compares classes of rows without a query", "leave it out, or pass query=None to pool the rows"
)
COMPARE = Verb(
    name="compare",
    excludes=(
        _EACH_QUERY,
        Exclusion("per_class", " cannot be used with {other}", PASS_ONE, by="against"),
        Exclusion("against", " tests each system by itself", "pass baseline=None", by="baseline"),
        *_MARGIN,
    ),
    means=True,
    takes_lists=True,
    kinds={
        "queries": role_rules(
            "queries",
            FOR_QUERIES,
            unless={"baseline": "catalogue"},
            refuses=_ARMS_IN_PAIRS,
            tests=TESTS["queries"],
            excludes=(_WITH_QUERY, _NO_CLASSES),
        ),
        "proxies": role_rules(
            "proxies",
            FOR_PROXIES,
            refuses=REFUSED_WITH_PROXY | _NO_ARM_WITH_PROXY,
            tests=TESTS["proxies"],
            excludes=(
                _OF_ONE_KIND,
                Exclusion(
                    "per_query",
                    " lists the differences of queries, and proxy= corrects none of them by itself",
                    "leave it out, or judge() without proxy=",
                ),
                _WITH_QUERY,
                _NO_CLASSES,
            ),
        ),
        "rows": role_rules(
            "rows",
            f"{FOR_ROWS} doc",
            unless={"against": "doc"},
            refuses=NO_COLLECTION_SIZE | _NO_MATCH | _ARMS_IN_PAIRS,
            tests=TESTS["rows"],
            excludes=(
                _NO_QUERY,
                Exclusion("per_query", " lists the differences of queries, and there is none", "name query="),
            ),
        ),
        "numbers": role_rules(
            "numbers", FOR_NUMBERS, refuses=_ARMS_IN_PAIRS, tests=TESTS["queries"], excludes=(_WITH_QUERY, _NO_CLASSES)
        ),
    },
)
LEADERBOARD = Verb(
    name="leaderboard",
    means=True,
    takes_lists=True,
    kinds={
        "queries": role_rules(
            "queries", FOR_QUERIES, without="catalogue", refuses=_arms_refused("leaderboard() ranks systems on")
        ),
        "numbers": role_rules("numbers", FOR_NUMBERS, refuses=_arms_refused("leaderboard() ranks systems on")),
    },
)
_RULES_OF_ARMS = {
    "queries": role_rules(
        "queries", FOR_QUERIES, without="catalogue unanswered", tests=TESTS["arms"], excludes=(_NO_CLASSES,)
    ),
    "numbers": role_rules("numbers", FOR_NUMBERS, tests=TESTS["arms"], excludes=(_NO_CLASSES,)),
}
AB_TEST = Verb(
    name="ab_test",
    excludes=(
        *_LOOKS,
        Exclusion(
            "saved",
            " has no units that were assigned to an arm of this test",
            "with value= the saved numbers of another arm are rows of the same frame, and arm= tells them apart",
            what=_SAVED,
        ),
    ),
    means=True,
    takes_lists=True,
    kinds={
        "queries": _RULES_OF_ARMS["queries"],
        "rows": role_rules(
            "rows", FOR_ROWS, refuses=NO_COLLECTION_SIZE | _NO_MATCH, tests=TESTS["rows of arms"], excludes=_OF_QUERIES
        ),
        "numbers": _RULES_OF_ARMS["numbers"],
    },
)
_BY_ROWS = Refused(
    " takes a change of means apart, and rows without a query are counted together",
    "name query=, or pass by=None, or use ab_test() for each segment by itself",
)
CHANGE = Verb(
    name="change",
    excludes=(
        Exclusion(
            "test correction over margin",
            " applies to tests, and {other} takes each change apart, with intervals alone",
            "leave it out, or pass by=None, or use ab_test() for each segment by itself",
            by="by",
        ),
    ),
    means=True,
    takes_lists=True,
    kinds={
        "queries": _RULES_OF_ARMS["queries"],
        "rows": role_rules(
            "rows",
            FOR_ROWS,
            refuses=NO_COLLECTION_SIZE | _NO_MATCH | {"by": _BY_ROWS},
            tests=TESTS["rows of arms"],
            excludes=(_NO_QUERY,),
        ),
        "numbers": _RULES_OF_ARMS["numbers"],
    },
)
SAMPLE_SIZE = Verb(
    name="sample_size",
    kinds={
        "queries": role_rules(
            "queries",
            FOR_QUERIES,
            without="catalogue",
            unless={"arm": "unanswered", "baseline": "arm unjudged_queries"},
        ),
        "proxies": role_rules(
            "proxies",
            FOR_PROXIES,
            without="positive",
            refuses=REFUSED_WITH_PROXY | _NO_ARM_WITH_PROXY,
            excludes=(_OF_ONE_KIND,),
        ),
        "numbers": role_rules("numbers", FOR_NUMBERS, unless={"baseline": "arm"}),
    },
)
INTERLEAVING = Verb(
    name="interleaving",
    excludes=(
        _EACH_QUERY,
        Exclusion("saved", " has numbers of other lists", "pass the name of a team", what=_SAVED),
    ),
    kinds={
        "queries": role_rules(
            "queries",
            f"team query by {WEIGHT_AND_CLUSTER} score rank doc label grade rel scale positive unjudged",
            refuses={"system": Refused(" says another system of each row than team= does")},
            tests={"randomization": WEIGHT_AND_CLUSTER_ROLES, "sign": (), "bootstrap": WEIGHT_AND_CLUSTER_ROLES},
        )
    },
)
SIMILARITY = Verb(
    name="similarity",
    excludes=(Exclusion("average ci margins", " applies to means", "pass per_query=False", by="per_query"),),
    kinds={
        "queries": role_rules(
            "queries",
            f"{KEY_ROLES} {WEIGHT_AND_CLUSTER} {ORDER_ROLES}",
            unless={"baseline": WEIGHT_AND_CLUSTER},
            refuses=dict.fromkeys(
                ("ties=worst", "ties=best"),
                Refused(
                    " orders equal scores by their judgments, and similarity() reads none",
                    "leave ties= out to order them by document, or pass ties='expected'",
                ),
            ),
        )
    },
)
