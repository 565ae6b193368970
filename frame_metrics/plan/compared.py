"""The verbs that compare, declared: tests and roles of each kind of rows, and options that exclude each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from frame_metrics.plan.reads import (
    COUNTED,
    KEYS,
    ORDER,
    POOLED,
    PROXIED,
    RANKED,
    SAVED,
    TWICE,
    UNITS,
    of,
)
from frame_metrics.plan.verb import Excludes, Of, Refused, RowsTaken, Verb

Compared = Literal["queries", "proxies", "arms", "rows", "rows of arms"]  # the kind of a comparison
BOTH = ("weight", "cluster")
MID_P = "mcnemar_mid_p"  # the test of values of 0 and 1
# The tests of each kind of comparison, and the roles that each takes beside the values; also the covariate.
TESTS: dict[Compared, dict[str, Sequence[str]]] = {
    "queries": {"randomization": BOTH, "t": (), "wilcoxon": (), "sign": (), "bootstrap": BOTH, MID_P: ()},
    "proxies": {"t": BOTH, "z": BOTH},
    "arms": dict.fromkeys(("randomization", "t", "z", "bootstrap"), (*BOTH, "covariate")),
    "rows": {MID_P: (), "mcnemar": (), "delong": (), "fisher": (), "bootstrap": BOTH},
    "rows of arms": {"delong": (), "bootstrap": BOTH},
}
_ARMS = " is of arms with queries of their own, and {} the same ones"
_USE_ARMS = "use ab_test() for units that were assigned to arms at random, or change() for two periods"
_NO_ARMS = {
    "arm": Refused(
        " has queries of each arm, and proxy= estimates the difference of systems over the same queries",
        "pass arm=None, or judge() without proxy=",
    )
}
ONE = "pass one of them"
_EACH_QUERY = Excludes("test correction over ci", " is of the difference of means", "pass per_query=False", "per_query")
_LOOKS = (
    Excludes("first_look", " is of several looks", "pass looks='any'", without="looks"),
    Excludes("looks", " has its own test", "leave {beside} out, or pass looks=None", "test"),
    Excludes(
        "strata",
        " cannot be used with {beside}",
        "pass one of them, or cut the covariate into a few groups, and pass these as one more column of strata",
        "covariate",
    ),
    Excludes("strata", " is of a single look, and cannot be used with {beside}", ONE, "looks"),
)
_MARGIN = (
    Excludes("margin", " cannot be used with {beside}, which is no system that could lose", ONE, "against"),
    Excludes("margin", " cannot be used with {beside}, which lists the differences of queries", ONE, "per_query"),
    *(
        Excludes(
            "margin",
            " cannot be used with {beside}, which does not look at the size of a mean",
            "pass another test",
            f"test={test}",
        )
        for test in ("wilcoxon", "sign", "fisher")  # they say nothing of how large a difference is
    ),
)


def _no_arms(does: str) -> dict[str, Refused]:
    """Return the refusal of arms by a verb of systems; ``does``: what it does with these."""
    return {"arm": Refused(_ARMS.format(does), _USE_ARMS)}


_MATCHED = {
    "match": Refused(
        " chooses the classes of the clusters of each side anew",
        "pass match=None, and name a column of classes",
    )
}
COMPARE = Verb(
    name="compare",
    excludes=(
        _EACH_QUERY,
        Excludes("against", " tests each system by itself", "pass baseline=None", "baseline"),
        *_MARGIN,
    ),
    means=True,
    takes_lists=True,
    kinds={
        "queries": of(
            "queries",
            RANKED,
            unless={"baseline": "catalogue"},
            refuses=_no_arms("compare() pairs what systems did for"),
        ),
        "proxies": of("proxies", PROXIED, tests=TESTS["proxies"], refuses=TWICE | _NO_ARMS),
        "rows": of(
            "rows",
            f"{POOLED} doc",
            unless={"against": "doc"},
            tests=TESTS["rows"],
            refuses=COUNTED | _MATCHED | _no_arms("compare() pairs what systems did for"),
        ),
        "numbers": of(
            "numbers", SAVED, tests=TESTS["queries"], refuses=_no_arms("compare() pairs what systems did for")
        ),
    },
)
LEADERBOARD = Verb(
    name="leaderboard",
    means=True,
    takes_lists=True,
    kinds={
        "queries": of("queries", RANKED, without="catalogue", refuses=_no_arms("leaderboard() ranks systems on")),
        "numbers": of("numbers", SAVED, refuses=_no_arms("leaderboard() ranks systems on")),
    },
)
_OF_ARMS: dict[Of, RowsTaken] = {
    "queries": of("queries", RANKED, without="catalogue unanswered", tests=TESTS["arms"]),
    "rows": of("rows", POOLED, refuses=COUNTED | _MATCHED, tests=TESTS["rows of arms"]),
    "numbers": of("numbers", SAVED, tests=TESTS["arms"]),
}
AB_TEST = Verb(name="ab_test", excludes=_LOOKS, means=True, takes_lists=True, kinds=_OF_ARMS)
CHANGE = Verb(name="change", means=True, takes_lists=True, kinds=_OF_ARMS)
SAMPLE_SIZE = Verb(
    name="sample_size",
    kinds={
        "queries": of(
            "queries", RANKED, without="catalogue", unless={"arm": "unanswered", "baseline": "arm unjudged_queries"}
        ),
        "proxies": of("proxies", PROXIED, without="positive", refuses=TWICE | _NO_ARMS),
        "numbers": of("numbers", SAVED, unless={"baseline": "arm"}),
    },
)
INTERLEAVING = Verb(
    name="interleaving",
    excludes=(_EACH_QUERY,),
    kinds={
        "queries": of(
            "queries",
            f"team query by {UNITS} score rank doc label grade rel scale positive unjudged",
            tests={"randomization": BOTH, "sign": (), "bootstrap": BOTH},
        )
    },
)
SIMILARITY = Verb(
    name="similarity",
    excludes=(Excludes("average ci margins", " is of means", "pass per_query=False", "per_query"),),
    kinds={"queries": of("queries", f"{KEYS} {UNITS} {ORDER}", unless={"baseline": UNITS})},
)
