"""The roles that verbs read of each kind of rows, in groups, and the roles that a kind of rows cannot have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frame_metrics.plan.verb import ROLE_NAMES, Refused, RoleRules, RowKind
from frame_metrics.roles.resolve import WITH_VALUE

# Roles in groups. FOR_QUERIES and so on: what most verbs can read of such rows.
KEY_ROLES, WEIGHT_AND_CLUSTER = "query system arm by", "weight cluster"
ORDER_ROLES = "doc score rank ties duplicates"
JUDGMENT_ROLES = "label grade relevant rel scale positive n_relevant unjudged unjudged_queries"
FILL_ROLES = "undefined unanswered"
DECISION_ROLES = "predicted threshold collection_size"
PROPENSITY_ROLES = "propensity target_propensity clip"
DOCUMENT_ROLES = "group popularity catalogue"
FOR_QUERIES = (
    f"{KEY_ROLES} {WEIGHT_AND_CLUSTER} {ORDER_ROLES} {JUDGMENT_ROLES} {FILL_ROLES} {DECISION_ROLES} {PROPENSITY_ROLES} "
    f"{DOCUMENT_ROLES} extra"
)
FOR_ROWS = (
    "system arm by weight count cluster score label predicted unjudged collection_size positive classes threshold "
    "abstain match"
)
FOR_NUMBERS = f"{KEY_ROLES} {WEIGHT_AND_CLUSTER} {FILL_ROLES} value"
ROW_ROLES = "count classes abstain match"
FOR_PROXIES = f"{KEY_ROLES} {WEIGHT_AND_CLUSTER} doc score rank ties label grade rel scale positive predicted threshold"
ONLY_FOR_QUERIES = (
    f"rel scale ties unjudged_queries unanswered duplicates n_relevant relevant {PROPENSITY_ROLES} {DOCUMENT_ROLES}"
)
# Roles that rows of a kind cannot have, for any verb: they are refused when columns are found, with their own reasons.
IMPOSSIBLE: dict[RowKind, str] = {
    "queries": f"value {ROW_ROLES}",
    "proxies": f"value {ROW_ROLES} relevant n_relevant target_propensity clip",
    "rows": f"value {ONLY_FOR_QUERIES}",
    "numbers": " ".join(role for role in ROLE_NAMES if role not in WITH_VALUE),
}
_TEAM = Refused(
    " says which system contributed a row of an interleaved list, and interleaving() credits it with the clicks",
    "pass team=None to read each list as one",
)
_UNWEIGHTED = Refused(
    " weighs the results that a metric adds up, as in evaluate(), per_query(), compare() and the curves of metrics "
    "by cutoff, and nothing is weighted here"
)
_ONE_SET = Refused(" looks at one kind of judgments, and proxy= gives each query one of people and one of a machine")
REFUSED_WITH_PROXY = {
    **dict.fromkeys(("ties=worst", "ties=best", "unjudged", "unjudged_queries", "propensity"), _ONE_SET),
    "unanswered=drop": Refused(
        " leaves queries out, and proxy= estimates a mean over all queries that the machine judged",
        "pass unanswered=None, or judge() without proxy=",
    ),
}
# Roles that are refused where they are not read.
UNLESS_READ = {"team": _TEAM} | dict.fromkeys(("propensity", "target_propensity", "clip"), _UNWEIGHTED)
NO_COLLECTION_SIZE = {"collection_size": Refused(": what is counted here are the rows")}


def role_rules(
    rows: RowKind,
    reads: str,
    *,
    without: str = "",
    ignores: str = "",
    when: dict[str, str] | None = None,
    unless: dict[str, str] | None = None,
    refuses: Mapping[str, Refused] | None = None,
    **options: Any,
) -> RoleRules:
    """Return what a verb does with one kind of rows; parameters are fields of ``RoleRules``, roles with spaces between.

    ``without``: roles of ``reads`` that are not read after all; ``ignores``: roles of ``UNLESS_READ`` that are ignored,
    not refused.
    """
    read = frozenset(reads.split()) - {*without.split()}
    impossible = frozenset(IMPOSSIBLE[rows].split())
    refused = {role: why for role, why in UNLESS_READ.items() if role not in read | impossible | {*ignores.split()}}
    return RoleRules(
        reads=read - {*(refuses or {})} - impossible,
        impossible=impossible,
        when={option: frozenset(roles.split()) for option, roles in (when or {}).items()},
        unless={option: frozenset(roles.split()) for option, roles in (unless or {}).items()},
        refuses={**refused, **(refuses or {})},
        **options,
    )
