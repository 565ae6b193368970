"""Goals of an evaluation, and the metrics that serve them: what each says, and what it hides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Advice(NamedTuple):
    """A metric that serves a goal."""

    goal: str
    metric: str
    says: str
    hides: str


# Below each goal its metrics: a name to ask for, what it says, what it hides.
TABLE = """
one good answer is enough
    rr | how far down the first relevant document stands | every document after the first
    success@10 | for how many queries the first ten hold one | where among the ten it stands
all relevant documents
    recall@100 | the share of them among the first hundred | their order, and what was never judged
    ap | how early each of them is found | grades; queries with one such document weigh as much
    rprec | the share found after as many results as there are | what stands above and below that rank
grades, the best on top
    ndcg@10 | the gain of the first ten against the ideal order | how much gain there is at all
    dcg@10 | the gain itself | how much was possible: queries with many good documents dominate
    err(max_grade=3)@10 | how soon a reader is satisfied, who then stops | all that stands below that
    rbp(p=0.8, gain='linear', max_grade=3) | the gain of a patient reader | the limit: the best value varies by query
    inst(target=2, max_grade=3) | the gain a document, for who wants two good ones | how many were read
relevant or not, judged in full
    ap | how early each relevant document is found | which user would look so far down
    precision@10 | how many of the first ten are relevant | the order of the ten, and how many there are
few judgments
    bpref | how judged documents stand to each other | every document without a judgment
    infap | what ap would be, judged documents being a random sample | \
a sample that is not random; it is ap unless the unjudged have a negative grade
    judged@10 | the share of the first ten with a judgment | whether the ranking is good
    rbp_residual(p=0.8) | how much the unjudged could add | how likely that is
one judged answer a query, the rest unjudged
    rr@10 | how far down the judged answer stands | unjudged results above it, which may be as good
    recall@100 | whether it is there for a reranker to find | where it stands
several intents of a query
    alpha_ndcg@10 | how early each intent is met, a second time for less | which of them users mean most
    err_ia@10 | how soon readers of each intent are satisfied | all that stands below that
    strecall@10 | the share of the intents that the first ten meet | where, and how often
    map_ia | how early the documents of each intent are found | that a second one may be worth little
two rankings, and no judgments
    rbo | how much they have in common at every depth, the top first | which of the two is better
    overlap@10 | the share of the first ten that both show | the order of the ten
    kendall_tau | how many pairs of documents keep their order | whether the pairs stand on top or below
    tau_ap | the same, the top of the ranking first | that it changes with which is the baseline
rare positives
    average_precision | precision over all thresholds | the negatives that are told apart with ease
    mcc | how decision and truth go together, all four cells counted | what a mistake costs
    f1 | precision and recall of the positives | the true negatives; equal weight is a choice
ruling in: a positive must be right
    precision | the share of positives that are right | what was missed; it moves with the prevalence
    fbeta(beta=0.5) | precision and recall, precision twice as important | why twice: see cost
    specificity | the share of negatives left alone | how rare positives are: few of many are many
    lr_positive | the factor by which a positive raises the odds | the odds themselves
ruling out: none may be missed
    recall | the share of the relevant that is found | how many others came with them
    fbeta(beta=2) | precision and recall, recall twice as important | why twice: see cost
    npv | the share of those left out that are rightly so | it is high for any rare class
    lr_negative | the factor by which a negative lowers the odds | the odds themselves
costs of mistakes are known
    cost | the mean cost of the decisions | which of the mistakes it comes from
    utility | the worth of the retrieved set | its size: a larger set may be worth more
    payoff | the gain at given worths, or at fair odds | rows without a decision, but for their share
scores, before a threshold is chosen
    roc_auc | how often a positive scores above a negative | the thresholds of use, and rare positives
    average_precision | precision over all thresholds | it moves with the prevalence
    ks | the greatest distance of the two distributions | all thresholds but one
scores that are probabilities
    brier | the squared distance to what came true | order and calibration apart
    log_loss | the surprise at what came true | one sure mistake may be all of it
    ece | the distance to the shares that came true | whether the scores tell rows apart at all
web search
    ndcg@10 | the gain of the first page against the best one | how much gain there is at all
    err(max_grade=3)@10 | how soon a reader is satisfied | all that stands below that
    rr@10 | the place of the first relevant result | every one after the first
patents, law, systematic reviews
    recall@1000 | the share found in what somebody will read | the work it takes within that
    precision_at_recall@0.95 | the work to find nearly all | how near the others came: 0 where it is never reached
    relative_precision@100 | precision against the most that is possible | the order
recommendations
    ndcg@10 | the gain of the ten that are shown | items that were never shown to anybody
    recall@10 | the share of held-out items found | a user with more than ten such items cannot reach 1
    success@10 | users with at least one hit | how many hits, and where
recommendations beyond the hits
    catalogue_coverage@10 | how much of the catalogue is shown at all | how often; it rises with each list
    catalogue_gini@10 | how unevenly items are shown | whether those that are seldom shown are any good
    distributional_coverage@10 | how spread what is shown is, in bits | items that nobody is shown
    novelty@10 | how far from the popular each list goes | whether users like it: see recall
    average_popularity@10 | how popular what is shown is | one hit in ten may be all of it
    exposure_share(of='a')@10 | the attention that a group has | what share would be fair
clicks
    success@10 | the share of searches with a click on the first ten (CTR@10) | what answered unclicked
    abandonment | the share of searches without a click | good answers that need none
    rr | how far up the first click stands | clicks on what is on top because it is there
    last_click_rr | how far down the user went | why: one good answer ends a search, and so does despair
    mean_click_position | where clicks stand | searches without a click, which are left out
    position_ctr@1 | the share that clicks on one position | whether the position or the result draws clicks
    clicks_per_query | how much is clicked; of teams, on whose results | \
whether many clicks are a find or a failed search
    dcg@10 | the gain of the clicks; with propensity= without position bias | propensities that are wrong
    iips | what another policy would earn, from target_propensity= | how results act on each other
passages for an answer (RAG)
    recall@5 | the share of the evidence that is handed over | its order, and what distracts
    precision@5 | how much of what is handed over is evidence | evidence that was missed
    rr | the place of the first evidence | a second piece that the answer needs
several classes
    accuracy | the share of rows that are right | rare classes
    f1 | precision and recall of each class | macro: how large each class is; micro: rare classes
    kappa | agreement beyond chance | which classes are mixed up: see confusion()
clusters without names
    adjusted_rand_index | pairs kept together or apart, beyond chance | which cluster is which class
    conditional_entropy | what is left unknown of the class | many small clusters look good
"""


def _read(table: str) -> Iterator[Advice]:
    """The rows of a table that is written like this one."""
    goal = ""
    for line in table.strip().splitlines():
        if line.startswith(" "):
            yield Advice(goal, *line.strip().split(" | "))
        else:
            goal = line


ADVICE = tuple(_read(TABLE))
