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
    rprec | precision at rank R, where R is the number of relevant documents | what stands above and below that rank
grades, the best on top
    ndcg@10 | the gain of the first ten against the ideal order | how much gain there is at all
    dcg@10 | the gain itself | how much was possible: queries with many good documents dominate
    err(max_grade=3)@10 | how soon a reader is satisfied and stops | everything below that rank
    rbp(p=0.8, gain='linear', max_grade=3) | the gain of a patient reader | the limit: the best value varies by query
    inst(target=2, max_grade=3) | the gain per document, for a reader who wants two good ones | how many were read
relevant or not, judged in full
    ap | how early each relevant document is found | how far down users really look
    precision@10 | how many of the first ten are relevant | the order of the ten, and how many there are
few judgments
    bpref | whether judged relevant documents rank above judged others | every document without a judgment
    infap | an estimate of ap, if judged documents are a random sample | \
a sample that is not random; it is ap unless the unjudged have a negative grade
    judged@10 | the share of the first ten with a judgment | whether the ranking is good
    rbp_residual(p=0.8) | how much the unjudged could add | how likely that is
one known answer per query
    rr@10 | how far down the judged answer stands | unjudged results above it, which may be as good
    recall@100 | whether a reranker can find it there | where it stands
several intents of a query
    alpha_ndcg@10 | how early each intent is met; repeats count less | which intent users mean most often
    err_ia@10 | how soon readers of each intent are satisfied | everything below that rank
    strecall@10 | the share of the intents that the first ten meet | where, and how often
    map_ia | how early the documents of each intent are found | that a second one may be worth little
two rankings, and no judgments
    rbo | how much they share at every depth; the top counts most | which of the two is better
    overlap@10 | the share of the first ten that both show | the order of the ten
    kendall_tau | how many pairs of documents keep their order | whether the pairs are at the top or below
    tau_ap | the same, but the top of the ranking counts most | that the choice of the baseline changes it
rare positives
    average_precision | precision over all thresholds | negatives that are easy to separate
    mcc | the correlation of decision and truth, over all four cells | what a mistake costs
    f1 | precision and recall of the positives | the true negatives; equal weight is a choice
ruling in: a positive must be right
    precision | the share of predicted positives that are right | what was missed; it depends on the prevalence
    fbeta(beta=0.5) | precision and recall, precision twice as important | why twice: see cost
    specificity | the share of negatives that are not flagged | a small share of many negatives is many false alarms
    lr_positive | the factor by which a positive raises the odds | the odds themselves
ruling out: none may be missed
    recall | the share of the relevant that is found | how many others came with them
    fbeta(beta=2) | precision and recall, recall twice as important | why twice: see cost
    npv | the share of predicted negatives that are right | it is high for any rare class
    lr_negative | the factor by which a negative lowers the odds | the odds themselves
costs of mistakes are known
    cost | the mean cost of the decisions | which of the mistakes it comes from
    utility | the worth of the retrieved set | its size: a larger set may be worth more
    payoff | the gain at given payoffs, or at fair odds | rows without a decision, except their share
scores, before a threshold is chosen
    roc_auc | how often a positive scores above a negative | which thresholds matter, and rare positives
    average_precision | precision over all thresholds | it depends on the prevalence
    ks | the greatest distance between the two distributions | all thresholds but one
room for a share of the rows (campaigns, churn, fraud)
    lift(top=0.1) | how many times as often as in all rows the top tenth is right | it is at most 1 / prevalence, or 10
    precision(top=0.1) | how often the top tenth is right | what was missed below it
    recall(top=0.1) | the share found in the top tenth (cumulative gain) | how many others stand there
scores that are probabilities
    brier | the squared distance to the outcome | ranking and calibration separately
    log_loss | the surprise at the outcome | one confident mistake may dominate it
    ece | the distance to the observed shares | whether the scores separate rows at all
web search
    ndcg@10 | the gain of the first page against the best one | how much gain there is at all
    err(max_grade=3)@10 | how soon a reader is satisfied | everything below that rank
    rr@10 | the place of the first relevant result | every result after the first
patents, law, systematic reviews
    recall@1000 | the share found among what somebody will read | the work needed within that
    precision_at_recall@0.95 | the work to find nearly all | near misses: it is 0 if that recall is never reached
    relative_precision@100 | precision relative to the best possible | the order
recommendations
    ndcg@10 | the gain of the ten that are shown | items that were never shown to anybody
    recall@10 | the share of held-out items found | a user with more than ten such items cannot reach 1
    success@10 | users with at least one hit | how many hits, and where
recommendations beyond the hits
    catalogue_coverage@10 | how much of the catalogue is shown at all | how often; it grows with the number of lists
    catalogue_gini@10 | how unevenly items are shown | whether items that are seldom shown are good
    distributional_coverage@10 | how evenly the shown items are spread, in bits | items that nobody is shown
    novelty@10 | how unpopular the items of each list are | whether users like it: see recall
    average_popularity@10 | how popular the shown items are | one hit in ten may dominate it
    exposure_share(of='a')@10 | the share of attention that a group gets | what share would be fair
clicks
    success@10 | the share of searches with a click on the first ten (CTR@10) | results that answered without a click
    abandonment | the share of searches without a click | good answers that need no click
    rr | how far up the first click stands | clicks that the top gets because of its position
    last_click_rr | how far down the user went | why: a good answer ends a search, and so does giving up
    mean_click_position | where clicks stand | searches without a click, which are left out
    position_ctr@1 | the share of searches that click on one position | whether position or result draws clicks
    clicks_per_query | the number of clicks; with teams, for each team | \
whether many clicks mean success or a failed search
    dcg@10 | the gain of the clicks; propensity= removes position bias | propensities that are wrong
    iips | what another policy would earn, from target_propensity= | how results influence each other
passages for an answer (RAG)
    recall@5 | the share of the evidence among the first five passages | its order, and passages that distract
    precision@5 | the share of these passages that are evidence | evidence that was missed
    rr | the place of the first evidence | a second piece that the answer needs
several classes
    accuracy | the share of rows that are right | rare classes
    f1 | precision and recall of each class | macro: how large each class is; micro: rare classes
    kappa | agreement beyond chance | which classes are confused: see confusion()
clusters without names
    adjusted_rand_index | pairs kept together or apart, beyond chance | which cluster is which class
    conditional_entropy | how uncertain the class remains | that many small clusters look good
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
