"""The value of another ranking than the one that was shown: rewards weighted by target propensity over propensity."""

from __future__ import annotations

from functools import partial

import numpy as np

from frame_metrics.inputs import Array, FullRanking, Rows, Weighted
from frame_metrics.inputs.weighted import cumulated, of_the_list, row_weights
from frame_metrics.metrics.parameters import GainName
from frame_metrics.metrics.ranking import cg
from frame_metrics.metrics.registry import metric


def _by_position(run: Weighted, k: int, gain: GainName = "linear") -> tuple[Array, Array]:
    """Rewards times weights, and weights, at each position; one without a result has the weight 1."""

    def laid(rows: Rows, value: Array) -> Array:
        at = np.flatnonzero(rows.rank <= k)
        cells = np.bincount((rows.rank[at] - 1) * run.n_queries + rows.query[at], value[at], k * run.n_queries)
        return cells.reshape(k, run.n_queries)

    seen, every = run.gains(gain), run.every
    lacking = laid(every, np.ones(len(every.rank))) == 0  # a cell has one result at most
    return laid(seen, seen.value), np.where(lacking, 1, laid(every, every.value))


_reward = partial(metric, range=(0, np.inf), best=None, monotone=True, unjudged="rises", micro=_by_position)


@_reward(adds=of_the_list, also=("standard_ips", "standard_inverse_propensity_score"))
def sips(run: FullRanking, k: int | None = None, gain: GainName = "linear") -> Array:
    """Standard inverse propensity score: the value of another policy, if rewards depend on the whole list.

    Formula: w sum over r <= k of gain(r), where w is the product of target_propensity / propensity over the whole list.
        sn_sips@k is self-normalised: at each position, the sum of w gain(r) over all lists is divided by the sum of w
        over all lists; these ratios are added up. A list without a result at a position has the weight 1 there.
    Undefined: never; sn_sips@k where all weights at a position are 0.
    Parameters: gain, as in cg: the reward of a result, by default its grade, or 1 for a click.
    Source: A. Swaminathan et al., Off-policy evaluation for slate recommendation, NIPS 2017.
    """
    return cg(run, k, gain)


@_reward(adds=row_weights, also=("independent_ips", "independent_inverse_propensity_score"))
def iips(run: FullRanking, k: int | None = None, gain: GainName = "linear") -> Array:
    """Independent inverse propensity score: the same, if a reward depends on its result and position alone.

    Formula: sum over r <= k of w(r) gain(r), where w(r) = target_propensity / propensity of the result itself.
        sn_iips@k is self-normalised as sn_sips is, with w(r) at each position.
    Undefined: never; sn_iips@k as sn_sips@k.
    Parameters: gain, as in sips.
    Source: S. Li et al., Offline evaluation of ranking policies with click models, KDD 2018.
    """
    return cg(run, k, gain)


@_reward(adds=cumulated, also=("reward_interaction_ips", "reward_interaction_inverse_propensity_score"))
def rips(run: FullRanking, k: int | None = None, gain: GainName = "linear") -> Array:
    """Reward-interaction inverse propensity score: the same, if a reward depends on its result and those above it.

    Formula: sum over r <= k of w(r) gain(r), where w(r) is the product of target_propensity / propensity over the
        results at ranks up to r. sn_rips@k is self-normalised as sn_sips is, with w(r) at each position.
    Undefined: never; sn_rips@k as sn_sips@k.
    Parameters: gain, as in sips.
    Source: J. McInerney et al., Counterfactual evaluation of slate recommendations with sequential reward interactions,
        KDD 2020.
    """
    return cg(run, k, gain)
