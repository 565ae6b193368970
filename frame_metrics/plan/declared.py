"""The verbs, each declared once: the rows that it takes, and the roles that it reads or refuses; others are ignored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frame_metrics.errors import BadValueError, ColumnError, listed
from frame_metrics.plan.given import Judgments
from frame_metrics.plan.verb import ROLES, Excludes, Kind, Of, Refused, Verb
from frame_metrics.roles.resolve import WITH_VALUE
from frame_metrics.roles.roles import RESOURCES, Roles

KEYS, UNITS = "query system arm by", "weight cluster"
ORDER = "doc score rank ties duplicates"
JUDGED = "label grade relevant rel scale positive n_relevant unjudged unjudged_queries"
FILLED = "undefined unanswered"
DECIDED = "predicted threshold collection_size"
WEIGHED = "propensity target_propensity clip"
SHOWN = "group popularity catalogue"
RANKED = f"{KEYS} {UNITS} {ORDER} {JUDGED} {FILLED} {DECIDED} {WEIGHED} {SHOWN} extra"  # all that queries can have
POOLED = (
    "system arm by weight count cluster score label predicted unjudged collection_size positive classes threshold "
    "abstain match"
)
SAVED = f"{KEYS} {UNITS} {FILLED} value"
OF_ROWS = "count classes abstain match"
PROXIED = f"{KEYS} {UNITS} doc score rank ties label grade rel scale positive predicted threshold"
OF_QUERIES = f"rel scale ties unjudged_queries unanswered duplicates n_relevant relevant {WEIGHED} {SHOWN}"
# Roles that rows of a kind cannot have, for any verb: they are refused when columns are found, with their own reasons.
CANNOT: dict[Of, str] = {
    "queries": f"value {OF_ROWS}",
    "proxies": f"value {OF_ROWS} relevant n_relevant target_propensity clip",
    "rows": f"value {OF_QUERIES}",
    "numbers": " ".join(role for role in ROLES if role not in WITH_VALUE),
}
_TEAM = Refused(
    " says which system contributed a row of an interleaved list, and interleaving() credits it with the clicks",
    "pass team=None to read each list as one",
)
_UNWEIGHTED = Refused(
    " weighs the results that a metric adds up, as in evaluate(), per_query(), compare() and the curves of metrics "
    "by cutoff, and nothing is weighted here"
)
_ONE_SET = Refused(" looks at one set of judgments, and proxy= gives each query one of people and one of a machine")
_TWICE = {
    **dict.fromkeys(("ties=worst", "ties=best", "unjudged", "unjudged_queries", "propensity"), _ONE_SET),
    "unanswered=drop": Refused(
        " leaves queries out, and proxy= estimates a mean over all queries that the machine judged",
        "pass unanswered=None, or judge() without proxy=",
    ),
}
# Roles that are refused where they are not read.
UNLESS_READ = {"team": _TEAM} | dict.fromkeys(("propensity", "target_propensity", "clip"), _UNWEIGHTED)


def of(
    rows: Of,
    reads: str,
    *,
    without: str = "",
    ignores: str = "",
    when: dict[str, str] | None = None,
    unless: dict[str, str] | None = None,
    refuses: Mapping[str, Refused] | None = None,
    **options: Any,
) -> Kind:
    """Return the declaration of what a verb does with one kind of rows; roles stand in texts, with spaces between."""
    read = frozenset(reads.split()) - {*without.split()}
    cannot = frozenset(CANNOT[rows].split())
    refused = {role: why for role, why in UNLESS_READ.items() if role not in read | cannot | {*ignores.split()}}
    return Kind(
        reads=read - {*(refuses or {})} - cannot,
        cannot=cannot,
        when={option: frozenset(roles.split()) for option, roles in (when or {}).items()},
        unless={option: frozenset(roles.split()) for option, roles in (unless or {}).items()},
        refuses={**refused, **(refuses or {})},
        **options,
    )


_ARMS = " is of arms with queries of their own, and {} the same ones"
_USE_ARMS = "use ab_test() for units that were assigned to arms at random, or change() for two periods"
_NO_ARMS = {
    "arm": Refused(
        " has queries of each arm, and proxy= estimates the difference of systems over the same queries",
        "pass arm=None, or judge() without proxy=",
    )
}
_ONE = "pass one of them"
_BOOTSTRAP = {"method": ("bootstrap",)}
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
    Excludes("strata", " is of a single look, and cannot be used with {beside}", _ONE, "looks"),
)
_MARGIN = (
    Excludes("margin", " cannot be used with {beside}, which is no system that could lose", _ONE, "against"),
    Excludes("margin", " cannot be used with {beside}, which lists the differences of queries", _ONE, "per_query"),
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
JUDGE = Verb(
    name="judge",
    takes_lists=True,
    kinds={
        "queries": of(
            "queries",
            RANKED,
            without="relevant n_relevant label positive group popularity catalogue",
            unless={"subtopic": WEIGHED},
        ),
        "proxies": of("proxies", RANKED),
    },
)
EVALUATE = Verb(
    name="evaluate",
    takes_lists=True,
    means=True,
    excludes=(Excludes("method", " is that of an interval", "pass ci=0.95 too", without="ci", cause=BadValueError),),
    kinds={
        "queries": of("queries", RANKED, without="cluster", when={"ci": "cluster"}, values=_BOOTSTRAP),
        "proxies": of(
            "proxies",
            PROXIED,
            without="cluster",
            when={"ci": "cluster"},
            refuses=_TWICE,
            values={"method": ("t", "normal")},
            excludes=(
                Excludes("layout=wide", " has no room for lambda and n_proxy of each metric", "pass layout='long'"),
            ),
        ),
        "rows": of(
            "rows", POOLED, without="cluster", when={"ci": "cluster"}, values={"method": ("delong", "bootstrap")}
        ),
        "numbers": of("numbers", SAVED, without="cluster", when={"ci": "cluster"}, values=_BOOTSTRAP),
    },
)
PER_QUERY = Verb(
    name="per_query",
    kinds={
        "queries": of("queries", RANKED, without=f"{UNITS} catalogue"),
        "numbers": of("numbers", SAVED, without=UNITS),
    },
)
CLICK_JUDGMENTS = Verb(
    name="click_judgments",
    kinds={
        "queries": of(
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
        "queries": of(
            "queries",
            "query system arm by doc rank label grade rel scale duplicates positive",
            refuses=dict.fromkeys(
                UNITS.split(), Refused(": propensities() draws and counts what was searched, and not impressions")
            ),
        )
    },
)
_ANNOTATED = {
    "by": Refused(
        " is of results, and annotators are compared over all judgments",
        "pass by=None, and name a column of the judgments, as in agreement(by='device')",
    ),
    **dict.fromkeys(UNITS.split(), Refused(": annotators are compared document by document, and queries are drawn")),
}
AGREEMENT = Verb(
    name="agreement",
    kinds={"queries": of("queries", "query doc grade system rel scale duplicates", refuses=_ANNOTATED)},
)
DISAGREEMENTS = Verb(
    name="disagreements",
    kinds={"queries": of("queries", "query doc grade system scale duplicates", refuses=_ANNOTATED)},
)
_COUNTED = {"collection_size": Refused(": what is counted here are the rows")}
_OF_DECISIONS = f"{KEYS} doc label relevant n_relevant predicted positive threshold"
_POOLED_HERE = {"weight": Refused(" is the weight of a query, and rows are pooled here")}
PER_CLASS = Verb(
    name="per_class",
    kinds={
        "queries": of("queries", _OF_DECISIONS, when={"ci": "cluster"}, refuses=_COUNTED | _POOLED_HERE),
        "rows": of("rows", f"{POOLED} undefined", without="cluster", when={"ci": "cluster"}, refuses=_COUNTED),
    },
)
CONFUSION = Verb(
    name="confusion",
    kinds={
        "queries": of("queries", _OF_DECISIONS, refuses=_COUNTED | _POOLED_HERE),
        "rows": of("rows", POOLED, without="cluster", refuses=_COUNTED),
    },
)
_OF_TWO = {"threshold": Refused(" is one threshold, and every threshold is looked at")}
_EVERY: dict[Of, Kind] = {
    "queries": of(
        "queries",
        f"{KEYS} {ORDER} {JUDGED} undefined unanswered",
        without="ties",
        refuses=_COUNTED | _OF_TWO | _POOLED_HERE,
    ),
    "rows": of(
        "rows",
        f"{POOLED} undefined",
        without="cluster predicted classes abstain match",
        refuses=_COUNTED | _OF_TWO,
    ),
}
THRESHOLDS = Verb(name="thresholds", kinds=_EVERY)
BEST_THRESHOLD = Verb(name="best_threshold", kinds=_EVERY)
_OF_CURVES = (
    Excludes(
        "levels",
        " reads off an interpolated curve, and leaves nothing to {beside}",
        _ONE,
        "points",
        cause=BadValueError,
    ),
    Excludes(
        "levels",
        " reads off an interpolated curve, and leaves nothing to {beside}",
        _ONE,
        "interpolated",
        cause=BadValueError,
    ),
    Excludes(
        "ci",
        " is of the mean over queries, and {beside} gives each its own",
        _ONE,
        "per",
        cause=BadValueError,
    ),
)
CURVE_OF_SCORES = Verb(
    name="curve",
    form="of scores",
    excludes=_OF_CURVES,
    kinds={
        "queries": of(
            "queries", f"{KEYS} {ORDER} {JUDGED} unanswered", without="ties", refuses=_EVERY["queries"].refuses
        ),
        "rows": of("rows", POOLED, without="cluster predicted classes abstain match", refuses=_EVERY["rows"].refuses),
    },
)
CURVE_OF_CUTOFFS = Verb(
    name="curve",
    form="of cutoffs",
    excludes=_OF_CURVES,
    kinds={"queries": of("queries", RANKED, without="predicted threshold catalogue group")},
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
        "proxies": of("proxies", PROXIED, refuses=_TWICE | _NO_ARMS),
        "rows": of(
            "rows",
            f"{POOLED} doc",
            unless={"against": "doc"},
            refuses=_COUNTED | _MATCHED | _no_arms("compare() pairs what systems did for"),
        ),
        "numbers": of("numbers", SAVED, refuses=_no_arms("compare() pairs what systems did for")),
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
_OF_ARMS: dict[Of, Kind] = {
    "queries": of("queries", RANKED, without="catalogue unanswered"),
    "rows": of("rows", POOLED, refuses=_COUNTED | _MATCHED),
    "numbers": of("numbers", SAVED),
}
AB_TEST = Verb(name="ab_test", excludes=(*_LOOKS, *_MARGIN), means=True, takes_lists=True, kinds=_OF_ARMS)
CHANGE = Verb(name="change", excludes=(*_LOOKS, *_MARGIN), means=True, takes_lists=True, kinds=_OF_ARMS)
SAMPLE_SIZE = Verb(
    name="sample_size",
    kinds={
        "queries": of(
            "queries", RANKED, without="catalogue", unless={"arm": "unanswered", "baseline": "arm unjudged_queries"}
        ),
        "proxies": of("proxies", PROXIED, without="positive", refuses=_TWICE | _NO_ARMS),
        "numbers": of("numbers", SAVED, unless={"baseline": "arm"}),
    },
)
INTERLEAVING = Verb(
    name="interleaving",
    excludes=(_EACH_QUERY,),
    kinds={"queries": of("queries", f"team query by {UNITS} score rank doc label grade rel scale positive unjudged")},
)
SIMILARITY = Verb(
    name="similarity",
    excludes=(Excludes("average ci margins", " is of means", "pass per_query=False", "per_query"),),
    kinds={"queries": of("queries", f"{KEYS} {UNITS} {ORDER}", unless={"baseline": UNITS})},
)
EXPLAIN = Verb(
    name="explain",
    kinds={
        "queries": of(
            "queries",
            f"{KEYS} {ORDER} {JUDGED} unanswered popularity extra",
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
BOUNDS = Verb(
    name="bounds",
    kinds={
        "queries": of(
            "queries",
            f"{KEYS} weight {ORDER} {JUDGED} {FILLED} {DECIDED}",
            unless={"baseline": "collection_size undefined unjudged n_relevant"},
        )
    },
)
TO_JUDGE = Verb(
    name="to_judge",
    kinds={
        "queries": of(
            "queries",
            f"{KEYS} weight {ORDER} {JUDGED} {FILLED} {DECIDED}",
            without="undefined unjudged collection_size predicted threshold n_relevant",
        )
    },
)
AUDIT = Verb(
    name="audit",
    kinds={
        "queries": of("queries", f"{RANKED} team", without="weight extra undefined unjudged_queries group popularity"),
        "proxies": of("proxies", f"{PROXIED} propensity", without="weight", ignores="team"),
        "rows": of("rows", POOLED),
        "numbers": of("numbers", SAVED, without="weight undefined"),
    },
)
SUMMARY = Verb(
    name="summary",
    takes_lists=True,
    kinds={
        "queries": of("queries", RANKED, unless={"baseline": "catalogue"}),
        "rows": of("rows", f"{POOLED} doc"),
        "numbers": of("numbers", SAVED),
    },
)
REPORT = Verb(
    name="report",
    takes_lists=True,
    kinds={"queries": of("queries", RANKED), "rows": of("rows", f"{POOLED} doc"), "numbers": of("numbers", SAVED)},
)
_AT_ONCE = ": saved numbers are read at once, and only the frame may be read in pieces"
_THEIRS = {
    role: Refused(why, f"name it there, and pass {role}=None here")
    for role, why in {
        "weight": ": the weights of queries are those of the frame",
        "cluster": ": the clusters of queries are those of the frame",
        **dict.fromkeys(RESOURCES, _AT_ONCE),
    }.items()
}
# A frame with roles in the place of a baseline.
BASELINE = Verb(
    name="",
    form="as a baseline",
    kinds={
        "numbers": of(
            "numbers",
            f"query value system {FILLED}",
            refuses=_THEIRS,
        )
    },
)
BASELINE_OF_AUDIT = Verb(
    name="audit", form="as a baseline", kinds={"numbers": of("numbers", "query value", refuses=_THEIRS)}
)
BASELINE_OF_LISTS = Verb(
    name="similarity",
    form="as a baseline",
    kinds={"queries": of("queries", "query doc score rank", refuses=_THEIRS)},
)
VERBS = {one.title: one for one in list(vars().values()) if isinstance(one, Verb)}


def takes(rows: Of) -> list[str]:
    """Return the names of the verbs that take rows of a kind."""
    return list(dict.fromkeys(one.name for one in VERBS.values() if one.name and rows in one.kinds))


NUMBERS, PROXIES = takes("numbers"), takes("proxies")


def check_rows(verb: str, roles: Roles, judgments: Judgments | None) -> None:
    """Raise for numbers, or two sets of judgments, for a verb that takes none; ``verb``: its name."""
    if verb not in NUMBERS and roles.get("value") is not None:
        raise ColumnError(
            f"{verb}() has no use for value=, whose numbers were computed already; {listed(NUMBERS)} take them"
        )
    if judgments is not None and verb not in PROXIES and judgments[1].get("proxy") is not None:
        others = [f"{one}()" for one in PROXIES if one != "judge"]
        raise ColumnError(
            f"{verb}() reads one set of judgments, and proxy= is a second one: {', '.join(others[:-1])} and "
            f"{others[-1]} take both; for the others judge() by one of them, without proxy="
        )
