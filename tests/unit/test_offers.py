"""Ways out that error messages offer: each call that is offered passes."""

from __future__ import annotations

from typing import Any

import polars as pl

from frame_metrics import IRM
from refusals import check

RUNS = pl.DataFrame(
    {
        "query": [1, 1, 2, 2] * 2,
        "doc": [*"abab"] * 2,
        "system": ["x"] * 4 + ["y"] * 4,
        "score": [2.0, 1, 2, 1, 1, 2, 1, 2.5],
        "grade": [1, 0, 0, 1] * 2,
        "part": [1, 1, 2, 2] * 2,
        "chance": [0.5, 1] * 4,
    }
)
ONE = RUNS[:4].drop("system")
DECIDED = pl.DataFrame(
    {
        "label": [1, 0, 0, 1] * 2,
        "said": [1, 0, 1, 0] * 2,
        "arm": [*"xxyyxxyy"],
        "of": [*"aacceebb"],
        "both": [1, 2, 1, 2, 3, 4, 3, 4],
    }
)
JUDGED = ONE.select("query", "doc", "grade")
STARS = JUDGED.rename({"query": "topic", "doc": "article", "grade": "stars"})
IN_TEXT = pl.DataFrame({"question": ["q"], "found": ["['x', 'y']"], "expected": [["y"]]})
SCORED = pl.DataFrame({"label": [1, 0, 0, 1], "score": [0.9, 0.4, 0.2, 0.0]})
SAVED = pl.DataFrame({"query": [1, 2], "rr": [0.5, 1.0]})
CLICKS = pl.DataFrame(
    {
        "query": [1, 1, 2, 2],
        "rank": [1, 2] * 2,
        "system": [*"xyyx"],
        "label": [1, 0, 0, 1],
        "arm": [*"aabb"],
    }
)
SHARES = pl.DataFrame({"doc": [*"ab"], "count": [3, 1]})


def one(**roles: object) -> IRM[pl.DataFrame]:
    """One system with grades, without ids of documents unless ``doc`` names them."""
    return IRM(ONE, **{"doc": None} | roles)


def runs(**roles: object) -> IRM[pl.DataFrame]:
    """Two systems with grades, without ids of documents unless ``doc`` names them."""
    return IRM(RUNS, **{"doc": None, "system": "system"} | roles)


def arms() -> IRM[pl.DataFrame]:
    """Two systems that were asked queries of their own."""
    return IRM(RUNS.with_columns(query=pl.format("{} of {}", "query", "system")), arm="system")


def both(**roles: Any) -> IRM[pl.DataFrame]:
    """Two systems that people and a machine judged."""
    return IRM(RUNS.drop("grade"), **({"system": "system"} | roles)).judge(JUDGED, proxy=JUDGED)


def unread(**options: object) -> IRM[pl.DataFrame]:
    """Two systems with the judgments of people, who may have judged some queries by chance."""
    return IRM(RUNS.drop("grade"), system="system").judge(JUDGED.with_columns(chance=0.5), **options)


def several(**roles: object) -> IRM[pl.DataFrame]:
    """Two systems with the judgments of two annotators."""
    both = pl.concat([JUDGED, JUDGED]).with_columns(who=pl.Series([*"mmmmnnnn"]), kind=pl.lit("web"))
    return IRM(RUNS.drop("grade"), **{"system": "system", "by": "part"} | roles).judge(both, annotator="who")


def clicks(**roles: object) -> IRM[pl.DataFrame]:
    """Clicks on lists that two systems made together."""
    return IRM(CLICKS, doc=None, **roles)


def graded(**roles: object) -> IRM[pl.DataFrame]:
    """Decisions about rows that have grades."""
    return IRM(DECIDED.rename({"label": "grade"}), predicted="said", **roles)


def decided(**roles: object) -> IRM[pl.DataFrame]:
    """Decisions about rows."""
    return IRM(DECIDED, **{"predicted": "said"} | roles)


OFFERED = """
one(popularity=SHARES).evaluate("rr")
    ColumnError: popularity= is about documents; name the document column with doc=
    but: one(popularity=SHARES, doc="doc").evaluate("rr")
one(duplicates="first").evaluate("rr")
    ColumnError: duplicates= is about documents that repeat; name the document column with doc=
    but: one(duplicates="first", doc="doc").evaluate("rr")
one(positive=1).evaluate("rr")
    ColumnError: positive= is a label, and grade is a grade; [...] rel=, or name label=
    but: one(rel=1).evaluate("rr")
    but: one(positive=1, label="grade").evaluate("rr")
runs(score=["score", "chance"]).evaluate("rr")
    ColumnError: score=['score', 'chance']: each of these columns is a system, and system='system' says another; name
        one column, or leave out system=
    but: one(score=["score", "chance"]).evaluate("rr")
one(doc="doc", catalogue=5).evaluate("catalogue_coverage", average="macro")
    NotComputableError: catalogue_coverage has one value for all lists together, and no average over queries; [...]
        average=None
    but: one(doc="doc", catalogue=5).evaluate("catalogue_coverage", average=None)
one(doc="doc", catalogue=5, ties="worst").evaluate("catalogue_coverage@1")
    NotComputableError: catalogue_coverage@1 counts documents, and ties='worst' does not say which of those with equal
        scores stand in the first places; [...] ties=None, or 'order'
    but: one(doc="doc", catalogue=5, ties=None).evaluate("catalogue_coverage@1")
    but: one(doc="doc", catalogue=5, ties="order").evaluate("catalogue_coverage@1")
one(doc="doc", catalogue=5, propensity="chance").evaluate("catalogue_coverage")
    NotComputableError: catalogue_coverage cannot be weighted by propensity=; [...] propensity=None
    but: one(doc="doc", catalogue=5, propensity=None).evaluate("catalogue_coverage")
one(doc="doc", catalogue=5, unjudged="drop").evaluate("catalogue_coverage")
    NotComputableError: catalogue_coverage counts what is shown, judged or not; [...] unjudged=None
    but: one(doc="doc", catalogue=5, unjudged=None).evaluate("catalogue_coverage")
one(doc="doc", catalogue=5).evaluate("catalogue_coverage", ci=0.9)
    NotComputableError: catalogue_coverage has no interval: of queries that are drawn again some come twice, so that
        their lists show fewer documents than all do; leave ci= out, or compare() systems, whose lists are exchanged
    but: one(doc="doc", catalogue=5).evaluate("catalogue_coverage", ci=None)
    but: one(doc="doc", catalogue=5).evaluate("rr", "catalogue_coverage", "ndcg", ci=0.9)
    but: runs(doc="doc", catalogue=5).compare("catalogue_coverage")
one(propensity="chance").evaluate("ap")
    NotComputableError: ap does not add up over the results of a ranking, so that weights of 1 / propensity do not
        correct it; ask for one that does, as dcg@10 or precision@10, or [...] propensity=None
    but: one(propensity="chance").evaluate("dcg@10", "precision@10")
    but: one(propensity=None).evaluate("ap")
one().evaluate("sdcg(min_rel=1)")
    BadValueError: 'sdcg(min_rel=1)': min_rel= is 0 here; [...] gain= with a gain for each grade
    but: one().evaluate("sdcg(gain={0: 0, 1: 1}, max_grade=1)")
one(unjudged="drop").explain("rr", query=1)
    NotComputableError: rr: explain() is about whole rankings, and these are condensed; [...] unjudged=None
    but: one(unjudged=None).explain("rr", query=1)
one(ties="expected").explain("rr", query=1)
    NotComputableError: ties='expected' is a mean over orders, and explain() shows one order of the results; pass
        ties='worst', or name doc=
    but: one(ties="worst").explain("rr", query=1)
    but: one(doc="doc").explain("rr", query=1)
one().to_judge(3)
    ColumnError: no column says which document a row is, and a judgment needs its document; name doc=
    but: one(doc="doc").to_judge(3, max_grade=1)
runs(doc="doc").bounds("rr", of="ties", baseline="x")
    NotComputableError: baseline= is about judgments of unjudged rows; [...] of='unjudged', or leave it out
    but: runs(doc="doc").bounds("rr", of="unjudged", baseline="x")
    but: runs(doc="doc").bounds("rr", of="ties")
runs().bounds("rr", of="unjudged", baseline="x")
    ColumnError: no document is named to tell which rows of two systems are the same; name doc=
    but: runs(doc="doc").bounds("rr", of="unjudged", baseline="x")
one(doc="doc").bounds("rr", of="unjudged", baseline="x")
    ColumnError: baseline='x' is a system, and no column says which row is whose; name system=
    but: runs(doc="doc", system="system").bounds("rr", of="unjudged", baseline="x")
arms().ab_test("rr", looks="any", test="t")
    NotComputableError: looks='any' has its own test; leave test='t' out, or [...] looks=None
    but: arms().ab_test("rr", looks="any")
    but: arms().ab_test("rr", looks=None, test="t")
runs().sample_size("rr", detect=0.1, n_all=10)
    NotComputableError: n_all=10 applies to judgments of a machine and of people; leave it out, or judge()
        with proxy=
    but: runs().sample_size("rr", detect=0.1)
    but: IRM(RUNS.drop("grade"), system="system").judge(JUDGED, proxy=JUDGED).sample_size("rr", detect=0.1, n_all=10)
both().evaluate("rr", ci=0.9, method="bootstrap")
    NotComputableError: method='bootstrap' applies to means over queries, and these are prediction-powered means,
        of judge(..., proxy=); pass method='t' or 'normal', or leave it out
    but: both().evaluate("rr", ci=0.9, method="t")
    but: both().evaluate("rr", ci=0.9, method="normal")
both(unjudged="drop").evaluate("rr")
    NotComputableError: unjudged='drop' looks at one kind of judgments, and proxy= gives each query one of people and
        one of a machine; [...] unjudged=None
    but: both(unjudged=None).evaluate("rr")
both().compare("rr", per_query=True)
    NotComputableError: per_query=True lists the differences of queries, and proxy= corrects none of them by itself;
        leave it out, or judge() without proxy=
    but: both().compare("rr")
    but: IRM(RUNS.drop("grade"), system="system").judge(JUDGED, proxy=None).compare("rr", per_query=True)
both().compare("rr", baseline=SAVED)
    NotComputableError: baseline= as a frame has numbers of one kind of judgments, and proxy= estimates the difference
        of systems by two; leave it out, or judge() without proxy=
    but: both().compare("rr")
    but: IRM(RUNS.drop("grade"), system="system").judge(JUDGED, proxy=None).compare("rr", baseline=SAVED)
both().evaluate("recall", average="micro")
    NotComputableError: recall: proxy= supports only macro and weighted means, and not 'micro'; [...]
        average='macro' in evaluate(), or judge() without proxy=
    but: both().evaluate("recall", average="macro")
    but: IRM(RUNS.drop("grade"), system="system").judge(JUDGED, proxy=None).evaluate("recall", average="micro")
decided(arm="arm").ab_test("f1", looks="any")
    NotComputableError: looks='any' requires query=; name the column of queries
    but: decided(arm="arm", query="of").ab_test("f1", looks="any")
decided(system="arm").sample_size("f1", detect=0.1)
    ColumnError: the query is missing; name its column with query=, one of [...]
    but: decided(system="arm", query="both").sample_size("f1", detect=0.1)
decided(system="arm").compare("informedness", against="chance", baseline="x")
    NotComputableError: against='chance' tests each system by itself; [...] baseline=None
    but: decided(system="arm").compare("informedness", against="chance", baseline=None)
decided(predicted=None).evaluate("f1")
    ColumnError: f1 needs a decision for each row: name its column with predicted=, one of 'said', 'arm', 'of', 'both',
        or set threshold= before, as search(threshold=0.5), to decide by the score; of a ranking, name query=
    but: decided(predicted="said").evaluate("f1")
    but: decided(predicted=None, score="said")(threshold=0.5).evaluate("f1")
IRM(SCORED).evaluate("recall")
    ColumnError: recall needs a decision for each row: set threshold= before, as search(threshold=0.5), to decide by the
        score; of a ranking, name query=
    but: IRM(SCORED)(threshold=0.5).evaluate("recall")
IRM(SCORED)(threshold="0.5").evaluate("recall")
    ColumnError: threshold='0.5' is text; pass the number, threshold=0.5
    but: IRM(SCORED)(threshold=0.5).evaluate("recall")
IRM(SCORED, label="score", score="label").evaluate("roc_auc")
    BadRowsError: score: 3 of 4 rows have fractions (rows 0, 1, 2); if these are probabilities, decide, as with
        label=lambda f: f['score'] > 0.5; if grades, pass label=None and grade=; if classes, list them with
        classes=[...], or make them text
    but: IRM(SCORED, label=lambda f: f["score"] > 0.5, score=lambda f: f["score"]).evaluate("roc_auc")
IRM(SCORED, label=None, grade="score", score="label").evaluate("roc_auc")
    NotComputableError: no grade in score reaches rel=1; the largest is 0.9: set rel= lower
    but: IRM(SCORED, label=None, grade="score", score="label", rel=0.5).evaluate("roc_auc")
one().evaluate("rr", by="part")
    ColumnError: by= is set before evaluate(): search(by='part').evaluate(...), with your object for search
    but: one()(by="part").evaluate("rr")
one().evaluate("rr", bye="part")
    UnknownNameError: evaluate() has no option 'bye'; did you mean by=, which is set before: search(by='part')[...]
    but: one()(by="part").evaluate("rr")
one().evaluate("accuracy@3")
    NotComputableError: accuracy@3 counts true negatives, and so needs collection_size=: a number, a column, or True if
        the frame lists all, set before, as search(collection_size=1000)
    but: one()(collection_size=1000).evaluate("accuracy@3")
    but: one()(collection_size=True).evaluate("accuracy@3")
one().per_query("rr", query=2)
    ColumnError: per_query() gives all queries, and query= names a column; for one, use explain(..., query=2), or keep
        its rows of the result
    but: one().explain("rr", query=2)
    but: one().per_query("rr").filter(query=2)
one().evaluate("err@10")
    NotComputableError: err@10 needs max_grade=, the highest grade of the scale; the largest grade in grade is 1; if 1
        is the highest, ask for 'err(max_grade=1)@10'
one().evaluate("err@10", max_grade=1)
    UnknownNameError: evaluate() has no option 'max_grade'; it is part of a metric's name, as 'err(max_grade=3)@10'
    but: one().evaluate("err(max_grade=1)@10", "err(max_grade=3)@10")
one().evaluate("ndcg@10, map")
    BadValueError: 'ndcg@10, map' names several metrics; give each by itself, as evaluate('ndcg@10', 'map'). Only
        cutoffs have commas, as 'ndcg@10,20'
one().evaluate("map, rr")
    BadValueError: 'map, rr' names several metrics; give each by itself, as evaluate('map', 'rr'). Only cutoffs have
        commas, as 'ndcg@10,20'
    but: one().evaluate("ndcg@10", "map", "rr", "ndcg@5,20")
IRM({"q1": ["d1", "d2"]})
    BadValueError: a dict is not a frame: if its keys are columns, [...] makes it one; if they are queries, give each a
        dict of its documents with scores or grades, as {'q1': {'d1': 2, 'd2': 1}}; [...]
    but: IRM({"q1": {"d1": 2, "d2": 1}}).judge({"q1": {"d1": 2, "d2": 1}}).evaluate("rr")
IRM(IN_TEXT, query="question", doc="found", relevant="expected").evaluate("rr")
    MistakenColumnError: doc='found' holds texts of lists, as "['x', 'y']"; make them lists, with [ast.literal_eval(one)
        for one in frame['found']], or with json.loads
    but: IRM(IN_TEXT.with_columns(found=pl.Series([["x", "y"]])), query="question",
        doc="found", relevant="expected").evaluate("rr")
IRM(IN_TEXT.with_columns(found=pl.lit("x,y")), query="question", doc="found", relevant="expected").evaluate("rr")
    ColumnError: the score or rank is missing; name its column with score= or rank=, one of [...]; if found has several
        ids, as 'x,y', make them lists, with frame['found'].str.split(',')
    but: IRM(IN_TEXT.with_columns(found=pl.Series(["x,y"]).str.split(",")), query="question", doc="found",
        relevant="expected").evaluate("rr")
IRM([1, 0, 1], [0.9, 0.1, 0.3])
    ColumnError: give one frame, and name its columns: IRM(pandas.DataFrame({'label': labels, 'score': scores}),
        label='label', score='score'); [0.9, 0.1, 0.3] is no name of a column
    but: IRM(type(RUNS.to_pandas())({"label": [1, 0], "score": [0.9, 0.1]}), label="label", score="score").audit()
IRM({"q1": {"d1": 2, "d2": 1}}, {"q1": {"d1": 0.5}})
    ColumnError: give the results first, and their judgments to judge(): IRM(results).judge(judgments);
        {'q1': {'d1': 0.5}} is no name of a column
    but: IRM({"q1": {"d1": 0.5}}).judge({"q1": {"d1": 2, "d2": 1}}).evaluate("rr")
IRM(JUDGED, ONE)
    ColumnError: give the results first, and their judgments to judge(): IRM(results).judge(judgments); [...]
    but: IRM(ONE.drop("grade")).judge(JUDGED).evaluate("rr")
IRM(ONE.drop("grade")).judge(JUDGED.rename({"query": "topic", "doc": "article", "grade": "stars"}))
    ColumnError: judge: name the columns of the judgments with query=, doc= and grade= or label=; they have 'topic',
        'article', 'stars'
    but: IRM(ONE.drop("grade")).judge(STARS, query="topic", doc="article", grade="stars").evaluate("rr")
    but: IRM(ONE.drop("grade")).judge(STARS, query="topic", doc="article", label="stars").evaluate("rr")
IRM(ONE.with_columns(query=pl.lit("desk"))[:2]).explain("rr", query="dsk")
    BadValueError: query='dsk': no row of the frame has it; did you mean 'desk'?
    but: IRM(ONE.with_columns(query=pl.lit("desk"))[:2]).explain("rr", query="desk")
decided(predicted=None, score="both", match="best").evaluate("roc_auc")
    ColumnError: abstain= and match= are about predicted classes; name predicted=
    but: decided(predicted="said", score="both", match="best").confusion()
decided(label="of", doc="both", system="arm", match="best").compare("accuracy")
    NotComputableError: match='best' chooses the classes of the clusters of each side anew; [...] match=None, and name a
        column of classes
    but: decided(label="said", doc="both", system="arm", predicted="label", match=None).compare("accuracy")
graded().evaluate("precision(rel=1)")
    NotComputableError: precision(rel=1): rel= and judged_only= are for queries; [...] rel= or unjudged= of all rows
    but: graded(rel=1).evaluate("precision")
    but: graded(unjudged="drop").evaluate("precision")
IRM(ONE).evaluate("novelty")
    ColumnError: novelty reads what popularity= says of a document; name it
    but: IRM(ONE, popularity=SHARES).evaluate("novelty")
one().evaluate("ndcg(rel=1)")
    NotComputableError: ndcg(rel=1): rel= says what is relevant, and this metric reads gains; leave rel= out, or give
        gain= a mapping, as gain={1: 0, 2: 1, ...}
    but: one().evaluate("ndcg", "ndcg(gain={1: 0, 2: 1})")
unread(sampling="chance").evaluate("rr")
    ColumnError: sampling='chance' requires proxy=, the judgments of a machine; name it too
    but: unread(sampling="chance", proxy=JUDGED).evaluate("rr")
unread(sampling="chance", proxy=JUDGED).sample_size("rr", detect=0.1)
    NotComputableError: sampling='chance' has a chance for each query, and sample_size() counts queries that are drawn
        alike; give judge() a pilot that was drawn so, without sampling=
    but: unread(sampling=None, proxy=JUDGED).sample_size("rr", detect=0.1)
both().explain("rr", query=1)
    ColumnError: explain() reads one set of judgments, and proxy= is a second one: evaluate(), audit(),
        summary(), report(), compare() and sample_size() take both; for the others judge() by one of them, without
        proxy=
    but: unread(proxy=None).explain("rr", query=1)
    but: both().compare("rr")
both(system=None, arm="system").sample_size("rr", detect=0.1)
    ColumnError: arm='system' has queries of each arm, and proxy= estimates the difference of systems over the same
        queries; pass arm=None, or judge() without proxy=
    but: both(system="system").sample_size("rr", detect=0.1)
    but: arms().sample_size("rr", detect=0.1)
    but: unread(proxy=None).sample_size("rr", detect=0.1)
one().sample_size("rr", detect=0.1)
    ColumnError: sample_size() pairs systems query by query; name their column with system=, or give what per_query()
        returned of another one, as baseline=saved; for arms with queries of their own pass arm= in its place
    but: arms().sample_size("rr", detect=0.1)
    but: one().sample_size("rr", detect=0.1, baseline=SAVED)
runs().sample_size("rr", detect=0.1, paired=False)
    UnknownNameError: sample_size() has no option 'paired'; name the column of arms, which have queries of their own,
        with arm= in the place of system=
    but: arms().sample_size("rr", detect=0.1)
    but: arms().summary("rr")
clicks(team="system", system="arm").interleaving("clicks")
    ColumnError: system='arm' says another system of each row than team= does; pass system=None
    but: clicks(team="system", system=None).interleaving("clicks")
    but: clicks(team=None, arm="arm").ab_test("clicks")
runs(system=None, arm="system", cluster="part").change("rr", baseline=SAVED)
    NotComputableError: cluster='part' belongs to the queries of the frame, and the saved numbers are those of
        other queries; put both periods into one frame with value=, cluster= and arm=, or pass cluster=None
    but: runs(system=None, arm="system", cluster=None).change("rr", baseline=SAVED)
runs().change("rr", baseline=SAVED)
    ColumnError: change() compares each period over its own queries; pass system=None and keep the rows of one system,
        or name the column with arm= in the place of system='system'
    but: runs(system=None, arm="system").change("rr", baseline=SAVED)
IRM(DECIDED, label="label", predicted="said", arm="arm").change("precision", baseline=SAVED)
    NotComputableError: baseline= as a frame is one number per query, and there is no query; name query=
arms().ab_test("rr", baseline=SAVED)
    NotComputableError: baseline= as a frame has no units that were assigned to an arm of this test; with value= the
        saved numbers of another arm are rows of the same frame, and arm= tells them apart
    but: arms().ab_test("rr", baseline="x")
    but: runs().compare("rr", baseline=SAVED)
clicks(team="system").ab_test("clicks")
    ColumnError: team='system' says which system contributed a row of an interleaved list, and interleaving()
        credits it with the clicks; [...] team=None to read each list as one
    but: clicks(team="system").interleaving("clicks")
    but: clicks(team=None, arm="arm").ab_test("clicks")
clicks(team="system").evaluate("rr")
    ColumnError: team='system' says which system contributed a row of an interleaved list, and interleaving()
        credits it with the clicks; [...] team=None to read each list as one
    but: clicks(team=None).evaluate("rr")
    but: clicks(team="system").interleaving("clicks")
several().agreement()
    ColumnError: by=['part'] belongs to the results, and annotators are compared over all judgments; [...] by=None,
        and name a column of the judgments, as in agreement(by='device')
    but: several(by=None).agreement(by="kind")
runs(by="part").plot.metrics("rr", color="system", facet=[])
    ColumnError: nothing says what tells 'part' apart; name them in color= or facet=
    but: runs(by="part").plot.metrics("rr", color="system", facet="part")
    but: runs(by="part").plot.metrics("rr", color=["system", "part"], facet=[])
runs(by="part").compare("rr", margins=True)
    UnknownNameError: compare() has no option 'margins'; leave out by= to take all segments together
    but: runs(by=None).compare("rr")
RUNS.to_pandas().groupby("part").irm
    ColumnError: a pandas.DataFrameGroupBy has no irm; give the frame, and name its segments: frame.irm(by='part')
    but: RUNS.to_pandas().irm(by="part", system="system").evaluate("rr")
runs().bounds("rr", of="unjudged", baseline="x")
    ColumnError: no document is named to tell which rows of two systems are the same; name doc=
    but: runs(doc="doc").bounds("rr", of="unjudged", baseline="x")
IRM(RUNS.with_columns(grade=None), doc=None, system="system").bounds("rr", of="unjudged")
    NotComputableError: systems that list unjudged rows, and no document is named to tell which are the same; name doc=
    but: IRM(RUNS.with_columns(grade=None), doc="doc", system="system").bounds("rr", of="unjudged")
runs().compare("rr", test="tukey")
    UnknownNameError: test='tukey' is no test any more: correction='max_t', the default, tests all pairs together, with
        intervals that hold together; leave test= out
    but: runs().compare("rr", correction="max_t")
"""


def test_what_is_offered_passes() -> None:
    """After each error stand calls that do what it says."""
    check(OFFERED, globals())
