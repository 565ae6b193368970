"""Texts that differ in case or spaces only: they are different values, and the package says so before they mislead."""

from __future__ import annotations

import re
from typing import Any
from unicodedata import normalize

import pandas as pd
import polars as pl
import pytest

from frame_metrics import IRM, BadValueError, StrangeIdsError
from helpers import KINDS, as_kind, as_polars, odd
from inside import in_pieces

DECIDED = pl.DataFrame({"label": ["yes", "Yes", "no", "no"], "predicted": ["yes", "yes", "no", "no"]})
CLICKS = pl.DataFrame({"search": [1, 1, 2, 2], "rank": [1, 2, 1, 2], "click": ["yes", "no", "no", "yes"]})
RUN = pl.DataFrame({"query": [*"aab"], "doc": [*"xyz"], "score": [2.0, 1.0, 1.0]})
QRELS = RUN.select("query", "doc", label=pl.Series(["Yes", "no", "Yes"]))
ROLES: dict[str, Any] = {"query": "search", "rank": "rank", "label": "click"}
ALMOST = "labels written almost as positive"


def irms(frame: pl.DataFrame, **roles: Any) -> list[Any]:
    """Return the same of each kind of frame, and in pieces."""
    return [*(IRM(as_kind(frame, kind), **roles) for kind in KINDS), in_pieces(frame.irm(**roles))]


def said(irm: Any, check: str) -> dict[str, Any]:
    """Return the finding of a check."""
    (row,) = as_polars(irm.audit()).filter(check=check).rows(named=True)
    return dict(row)


def refused(irm: Any, *metrics: str) -> str:
    """Return the error of evaluate, which is an audit finding too."""
    with pytest.raises(BadValueError) as error:
        as_polars(irm.evaluate(*metrics))
    row = said(irm, "positive written otherwise")
    assert row["severity"] == "error"
    assert row["message"].startswith(str(error.value))
    return str(error.value)


def test_positive_in_no_row_is_an_error_if_it_is_there_in_another_spelling() -> None:
    """Not accuracy 1 over rows that all count as no; what the error offers works."""
    frame = pl.DataFrame({"label": ["Yes", "No", "Yes"], "predicted": ["Yes", "No", "No"]})
    for irm in irms(frame, positive="yes"):
        assert refused(irm, "accuracy") == (
            "positive='yes' is in no row, and 'Yes' is, which differs in case or spaces only; pass positive='Yes', "
            "write the values alike, or pass positive=['yes'] if 'yes' is meant as it is"
        )
    assert frame.irm(positive="Yes").evaluate("accuracy")["value"].to_list() == [2 / 3]
    for positive in ("yes", " YES"):
        for verb in ("confusion", "summary", "per_class"):
            with pytest.raises(BadValueError, match="pass positive='Yes'"):
                getattr(frame.irm(positive=positive), verb)(*["recall"] * (verb == "per_class"))
    more = frame.with_columns(pl.col("label").replace("Yes", "YES "))
    with pytest.raises(BadValueError, match=r"and 'YES ', 'Yes' are, which differ .* positive=\['YES ', 'Yes'\],"):
        more.irm(positive="yes").evaluate("accuracy")
    assert more.irm(positive=["YES ", "Yes"]).evaluate("accuracy")["value"].to_list() == [2 / 3]


def test_positive_of_clicks_and_of_judgments_that_is_in_no_row() -> None:
    """In the log, in its pieces, and in judgments beside it."""
    for irm in irms(CLICKS, **ROLES, positive="YES"):
        assert "positive='YES' is in no row, and 'yes' is" in refused(irm, "ctr@1")
    for irm in irms(CLICKS, **ROLES, positive=["yes", "NO", "no"]):
        assert as_polars(irm.evaluate("ctr@1"))["value"].to_list() == [1]
    for irm in irms(RUN, positive="yes"):
        assert "pass positive='Yes'" in refused(irm.judge(QRELS), "rr")


def test_positive_in_no_row_and_without_another_spelling_is_0_as_before() -> None:
    """A log without clicks is honest."""
    for irm in irms(CLICKS.with_columns(click=pl.lit("no")), **ROLES, positive="yes"):
        assert as_polars(irm.evaluate("ctr@1"))["value"].to_list() == [0]
        assert said(irm, "no positive in any row")["n"] == 4
    assert CLICKS.clear().irm(**ROLES, positive="YES").evaluate("ctr@1")["n"].to_list() == [0]
    ids = pl.DataFrame({"label": [1, 2], "predicted": [1, 1]})
    assert ids.irm(positive=1).evaluate("precision")["value"].to_list() == [1 / 2]


def test_other_spellings_beside_positive_are_counted() -> None:
    """They count as no, which the audit and the summary say."""
    sentence = (
        "1 of 4 rows has 'Yes', which counts as no: it differs from positive='yes' in case or spaces only; "
        "positive=['yes'] says that this is meant"
    )
    for irm in irms(DECIDED, positive="yes"):
        row = said(irm, ALMOST)
        assert (row["severity"], row["n"], row["share"], row["example"]) == ("warning", 1, 1 / 4, "Yes")
        assert row["message"] == sentence
    assert f"{sentence}." in DECIDED.irm(positive="yes").summary()["sentence"].to_list()
    assert ALMOST not in DECIDED.irm(positive=["yes", "Yes"]).audit()["check"].to_list()
    mixed = CLICKS.with_columns(click=pl.Series(["yes", "YES", "no", "yes "]))
    for irm in irms(mixed, **ROLES, positive="yes"):
        assert said(irm, ALMOST)["message"].startswith("2 of 4 rows have 'YES', 'yes ', which count as no: they differ")
    for irm in irms(RUN, positive="yes"):
        judged = irm.judge(QRELS.with_columns(label=pl.Series(["yes", "YES", "no"])))
        assert said(judged, ALMOST)["message"].startswith("1 of 3 rows has 'YES'")


def test_labels_and_predictions_in_two_spellings() -> None:
    """No row would be right: an error, of rows that count, unless a side has both, which may then be two classes."""
    rows = pl.DataFrame({"label": ["Yes", "No"] * 4, "predicted": ["yes", "no"] * 4, "query": [*"aabbccdd"]})
    sides = ("label", "prediction"), ("predictions", "labels")
    for positive, other, lacking, having in zip(("yes", "Yes"), ("Yes", "yes"), *sides, strict=True):
        message = (
            f"positive='{positive}' is in no {lacking}, and '{other}' is, which differs in case or spaces only, and "
            f"{having} have '{positive}'; write the values alike, or pass positive=['{positive}'] if '{positive}' is "
            "meant as it is"
        )
        none = pl.DataFrame({"label": "yes", "predicted": "yes", "query": "a", "n": [0]})
        counted = pl.concat([rows.with_columns(n=1).cast({"n": none["n"].dtype}), none])
        for roles in ({"query": None}, {"query": "query"}):
            for irm in irms(rows, **roles, positive=positive):
                assert refused(irm, "accuracy") == message
        assert refused(counted.irm(query=None, positive=positive, count="n"), "accuracy") == message
    alike = rows.with_columns(pl.col("label").str.to_lowercase())
    assert alike.irm(query=None, positive="yes").evaluate("accuracy")["value"].to_list() == [1]
    for irm in irms(rows.with_columns(predicted=pl.Series(["yes", "no", "Yes", "no"] * 2)), query=None, positive="yes"):
        assert as_polars(irm.evaluate("accuracy"))["value"].to_list() == [3 / 4]
        assert said(irm, ALMOST)["severity"] == "warning"


@pytest.mark.parametrize("declared", [False, True])
def test_case_sensitive_classes(declared: bool) -> None:
    """Letters that were read: a batch without 'A' is no mistake where a list, or an Enum, says that 'A' is a class."""
    frame = pl.DataFrame({"label": ["a", "b", "b"], "predicted": ["a", "b", "a"]})
    frame = frame.cast(pl.Enum(["A", "a", "b"])) if declared else frame
    positive: Any = "A" if declared else ["A"]
    for irm in irms(frame, positive=positive):
        kind = irm.frame["label"].dtype if isinstance(irm.frame, pd.DataFrame) else None
        if declared and kind is not None and not getattr(kind, "pyarrow_dtype", kind).ordered:
            continue  # polars 1.36 makes an Enum a category of pandas without an order, which is text
        assert as_polars(irm.evaluate("accuracy", "tp"))["value"].to_list() == [1, 0]
        assert "error" not in as_polars(irm.audit())["severity"].to_list()
    if not declared:
        listed = said(frame.irm(positive=positive), "labels written almost as listed ones")
        assert (listed["severity"], listed["n"], listed["example"]) == ("info", 2, "a")
    both = pl.DataFrame({"label": [*"Aa"] * 5, "predicted": [*"Aa"] * 5})
    both.irm(positive=["A"]).audit(fail_on="warning")
    both.irm(classes=["A", "a"]).audit(fail_on="warning")


def test_of_many_spellings_five_are_shown() -> None:
    """No message, and no example, is longer than can be read; a list that cannot be copied is not offered."""
    spelled = [f"yes{' ' * i}" for i in range(1, 100)]
    rows = pl.DataFrame(
        {"label": [*spelled, "no"], "predicted": "no", "seg": [f"{'a' * 700}{one}" for one in "yn" * 50]}
    )
    rows = rows.with_columns(pl.col("seg") + pl.Series([" " * (i // 10) for i in range(100)]))
    for irm in irms(rows, positive="yes", by="seg"):
        assert refused(irm, "accuracy") == (
            "positive='yes' is in no row, and 'yes ', 'yes  ', 'yes   ', 'yes    ', 'yes     ' and 94 more are, which "
            "differ in case or spaces only; write the values alike, or pass positive=['yes'] if 'yes' is meant as it is"
        )
        table = as_polars(irm.audit())
        assert table["message"].str.len_chars().max() <= 1000
        assert table["example"].str.len_chars().max() <= 203
    mixed = pl.DataFrame({"label": ["yes", *spelled], "predicted": "no"})
    for irm in irms(mixed, positive="yes"):
        assert (
            "99 of 100 rows have 'yes ', 'yes  ', 'yes   ', 'yes    ', 'yes     ' and 94 more, which"
            in said(irm, ALMOST)["message"]
        )


def test_positive_in_another_unicode_form_shows_the_characters() -> None:
    """Both would print alike."""
    one, other = (normalize(form, "Ja é") for form in ("NFC", "NFD"))
    frame = pl.DataFrame({"label": [other, "no"], "predicted": [other, "no"]})
    said_so = r"positive='Ja \\xe9' is in no row, and 'Ja e\\u0301' is, which differs in Unicode form only"
    with pytest.raises(BadValueError, match=said_so):
        frame.irm(positive=one).evaluate("accuracy")
    segments = frame.with_columns(label=1, predicted=1, seg=pl.Series([one, other])).irm(by="seg")
    assert "differ in Unicode form only" in said(segments, "names that differ in case or spaces only")["message"]
    both = pl.DataFrame({"label": [one, other, one.upper()], "predicted": "no"}).irm(positive=one)
    assert "they differ from positive='Ja é' in case, spaces or Unicode form only" in said(both, ALMOST)[
        "message"
    ].replace(ascii(one), repr(one))


@pytest.mark.parametrize("values", [["North", "north", "north ", "x"], [*"abcd"], [1, 2, 3, 4], [None, "a", "A", "A"]])
def test_names_of_segments_systems_and_classes_in_two_spellings(values: list[Any]) -> None:
    """Each kind of name is looked at; what is no text, or differs in letters, is not found."""
    checks = ("names that differ in case or spaces only", "classes that differ in case or spaces only")
    n = {"North": 3, None: 2}.get(values[0], 0)
    rows = pl.DataFrame({"label": [1, 0, 1, 0], "predicted": [1, 0, 0, 0], "seg": values})
    several = pl.DataFrame({"label": values, "predicted": values})
    for irm in (
        *irms(rows, by="seg"),
        *irms(rows, system="seg"),
        *(irms(several) if isinstance(values[0], str) else ()),
    ):
        found = as_polars(irm.audit()).filter(pl.col("check").is_in(checks))
        assert found["n"].to_list() == [n] * bool(n)
    saved = pl.DataFrame({"query": [*"abcd"], "system": values, "rr": 1.0})
    assert odd(saved.irm(value="rr", system="system")).filter(check=checks[0])["n"].to_list() == [n] * bool(n)


def test_a_segment_in_two_spellings_does_not_describe_documents() -> None:
    """No advice to leave it out, or to keep the first spelling of each search."""
    frame = pl.DataFrame({"search": [1, 1, 1, 2, 2, 2], "rank": [1, 2, 3] * 2, "click": [1, 0, 0] * 2})
    for device in (["web", "WEB", "web", "app", "app", "App"], ["web", "web", "WEB"] * 2):
        for irm in irms(frame.with_columns(device=pl.Series(device)), **ROLES, by="device"):
            table = as_polars(irm.audit())
            text = " ".join(table["message"])
            assert "names that differ in case or spaces only" in table["check"].to_list()
            assert "describes documents" not in text
            assert ".first()" not in text
            assert "Their values of device differ in case or spaces only: make them alike" in text
    torn = frame.with_columns(device=pl.Series([*"xyxzwz"])).irm(**ROLES, by="device").audit()
    assert "rankings split over segments" in torn["check"].to_list()


@pytest.mark.parametrize(
    ("one", "other"), [("A", "a "), (" 07", "7"), ("q7-01", "q007-1"), ("7", "7.0"), (normalize("NFD", "é"), "é")]
)
def test_ids_in_two_spellings(one: str, other: str) -> None:
    """Queries of judgments and of saved numbers: the audit counts them, and no sentence offers to drop them."""
    run, qrels = RUN.with_columns(pl.col("query").replace("a", one)), QRELS.with_columns(label=1)
    judged = qrels.with_columns(pl.col("query").replace("a", other))
    for irm in irms(run):
        row = said(irm.judge(judged), "queries written otherwise in the judgments")
        assert (row["n"], row["share"]) == (1, 1 / 2)
        lacks = said(irm.judge(judged), "systems without rows for some queries")
        assert "drop" not in lacks["message"]
        assert lacks["message"].endswith("write ids alike first")
    docs = RUN.with_columns(pl.col("doc").replace("x", one)), qrels.with_columns(pl.col("doc").replace("x", other))
    assert said(docs[0].irm.judge(docs[1]), "documents written otherwise in the judgments")["n"]
    sentences = run.irm.judge(judged).summary()["sentence"].to_list()
    assert sentences[0].startswith("1 of 2 queries of the log are judged under another spelling: ")
    assert "unanswered=" not in " ".join(sentences)
    saved = pl.DataFrame({"query": [one, "b"], "value": [1.0, 0.0], "metric": "rr"})
    before = saved.with_columns(pl.col("query").replace(one, other))
    found = saved.irm(value="value").audit(baseline=before).filter(severity="warning")
    counts = dict(found.select("check", "n").rows())
    assert counts == {"queries written otherwise in the baseline": 1, "few queries": 2}


def test_ids_with_other_leading_zeros_are_refused() -> None:
    """A program that took ids for numbers wrote 007 as 7; 012 still matches, so that a number would be given."""
    log = pl.DataFrame({"query": ["7", "7", "012"], "doc": ["1", "22", "3"], "score": [2.0, 1.0, 1.0]})
    qrels = pl.DataFrame({"query": ["007", "012"], "doc": ["1", "3"], "grade": 1})
    docs = qrels.with_columns(query=pl.Series(["7", "012"]), doc=pl.Series(["0022", "3"]))
    for judged, what, way, ids in (
        (qrels, "query: some queries of the log are in the judgments", "3", "'7' and '007'"),
        (docs, "doc: some results are judged in their query", "4", "'22' and '0022'"),
    ):
        text = f"{what} with other leading zeros, as {ids}, and would count as not judged; write all ids alike, as with"
        for irm in irms(log):
            for call in (irm.judge(judged).evaluate, irm.judge(judged).per_query, irm.judge(judged).bounds):
                with pytest.raises(StrangeIdsError, match=re.escape(text)):
                    as_polars(call("rr", **{"of": "unjudged"} if call.__name__ == "bounds" else {}))
            (row,) = as_polars(irm.judge(judged).audit()).filter(severity="error").rows(named=True)
            assert (row["n"], row["example"]) == (1, ids)
        column = what[: what.index(":")]
        wide, letter = pl.col(column).str.zfill(int(way)), ("d" + pl.col(column)).alias(column)
        assert log.with_columns(wide).irm.judge(judged.with_columns(wide)).evaluate("rr")["n"].to_list() == [2]
        assert log.with_columns(letter).irm.judge(judged.with_columns(letter)).evaluate("rr")["n"].to_list()


def test_ids_whose_zeros_tell_them_apart_are_taken_as_they_are() -> None:
    """The log has both queries, or both documents; so have the judgments; numbers; case is left to the audit."""
    both = pl.DataFrame({"query": ["7", "007"], "doc": ["1", "1"], "score": 1.0})
    judged = pl.DataFrame({"query": ["007"], "doc": ["1"], "grade": [1]})
    two = pl.DataFrame({"query": "q", "doc": ["1", "01"], "score": [2.0, 1.0]})
    for log, qrels, n in (
        (both, judged, [1]),
        (two, pl.DataFrame({"query": ["q"], "doc": ["01"], "grade": [1]}), [1]),
        (two.head(1), pl.DataFrame({"query": "q", "doc": ["01", "001", "q"], "grade": 1}), None),
        (both.with_columns(query=pl.Series(["Q", "b"])), judged.with_columns(query=pl.Series(["b"])), [1]),
        (both.head(1), pl.DataFrame({"query": ["007", "7"], "doc": "1", "grade": [None, 1]}), [1]),
    ):
        for irm in irms(log):
            if n is None:
                with pytest.raises(StrangeIdsError, match="no id of the log is among"):
                    as_polars(irm.judge(qrels).evaluate("rr"))
            else:
                assert as_polars(irm.judge(qrels).evaluate("rr"))["n"].to_list() == n


def test_other_leading_zeros_of_queries_in_segments_and_arms_and_of_rows_that_come_later() -> None:
    """A judged query without rows has no known segment; in pieces the judged document may stand in a later row."""
    log = pl.DataFrame({"query": ["1", "x"], "doc": ["a", "b"], "score": [2.0, 1.0], "device": ["web", "app"]})
    qrels = pl.DataFrame({"query": ["01", "x"], "doc": ["a", "b"], "grade": [1, 1]})
    for irm in irms(log, by="device"):
        with pytest.raises(StrangeIdsError, match="as '1' and '01'"):
            as_polars(irm.judge(qrels).evaluate("rr"))
    for irm in irms(log):  # whose judgments have no column of labels
        with pytest.raises(StrangeIdsError, match="as '1' and '01'"):
            as_polars(irm.judge(qrels.drop("grade"), label=True).evaluate("rr"))
    with pytest.raises(StrangeIdsError, match="as '1' and '01'"):
        log.irm(arm="device").judge(qrels).change("rr")
    assert said(log.irm(by="device").judge(qrels), "queries judged with other leading zeros")["n"] == 1
    two = log.with_columns(user=3)
    with pytest.raises(StrangeIdsError, match=r"as '1', 3 and '01', 3.*zfill\(2\)"):
        two.irm(query=["query", "user"]).judge(qrels.with_columns(user=3)).evaluate("rr")
    torn = pl.DataFrame({"query": [*"aabba"], "doc": ["010", "x", "x", "y", "10"], "score": [5.0, 4, 3, 2, 1]})
    for irm in irms(torn):
        judged = irm.judge(pl.DataFrame({"query": [*"ab"], "doc": ["10", "x"], "grade": 1}))
        assert as_polars(judged.evaluate("recall"))["value"].to_list() == [1]


def lost_in(part: str) -> pl.DataFrame:
    """Three queries of two systems, arms or segments, of which one has lost the zeros of the first two."""
    whole = pl.DataFrame({"query": ["001", "002", "100"], "doc": "a", "score": 1.0, part: "A"})
    return pl.concat([whole, whole.with_columns(pl.col("query").str.strip_chars_start("0"), pl.lit("B").alias(part))])


def test_zeros_that_one_system_arm_or_segment_has_lost_are_refused() -> None:
    """Others have the judged ids, so that no query lacks rows; what the error offers works."""
    qrels, wide = lost_in("who").select("query", doc=pl.lit("a"), grade=1).head(3), pl.col("query").str.zfill(3)
    text = r"query: some queries of who = B are in the judgments with other leading zeros, as '1' and '001', and.*\(3\)"
    for role in ("system", "arm", "by"):
        for irm in irms(lost_in("who"), **{role: "who"}):
            with pytest.raises(StrangeIdsError, match=text):
                as_polars(irm.judge(qrels).evaluate("rr"))
            row = said(irm.judge(qrels), "queries judged with other leading zeros")
            assert (row["severity"], row["n"], row["example"]) == ("error", 2, "'1' and '001'")
        right = lost_in("who").with_columns(wide).irm(**{role: "who"}).judge(qrels)  # type: ignore[arg-type]
        assert right.evaluate("rr")["n"].to_list() == [3, 3]
    for irm in irms(lost_in("who"), system="who"):
        for verb in ("compare", "per_query", "leaderboard"):
            with pytest.raises(StrangeIdsError, match=text):
                as_polars(getattr(irm.judge(qrels), verb)("rr"))


def test_zeros_that_one_system_has_lost_are_refused_without_judgments_beside_it_too() -> None:
    """With labels in the log, without any, and in saved numbers; in a baseline, of which the pairs would be fewer."""
    text = "query: some queries of who = B are those of other systems with other leading zeros, as '1' and '001'"
    graded, saved = (
        lost_in("who").with_columns(grade=1),
        lost_in("who").select("who", "query", value=1.0, metric=pl.lit("rr")),
    )
    for irm in (*irms(graded, system="who"), *irms(saved, system="who", value="value")):
        with pytest.raises(StrangeIdsError, match=text):
            as_polars(irm.compare("rr", baseline="A"))
        with pytest.raises(StrangeIdsError, match=text):
            as_polars(irm.evaluate("rr"))
    for irm in irms(lost_in("who"), system="who"):
        with pytest.raises(StrangeIdsError, match=text):
            as_polars(irm.similarity("rbo", baseline="A"))
    row = said(graded.irm(system="who"), "queries of systems with other leading zeros")
    assert (row["severity"], row["n"], row["example"]) == ("error", 2, "'1' and '001'")
    before, now = (saved.filter(who=who).drop("who") for who in "AB")
    with pytest.raises(StrangeIdsError, match=r"^baseline: query: some queries of the frame are in it .* as unpaired"):
        now.irm(value="value").compare("rr", baseline=before)
    alike = now.with_columns(pl.col("query").str.zfill(3))
    assert alike.irm(value="value").compare("rr", baseline=before)["n"].to_list() == [3]


def test_zeros_that_tell_queries_of_a_system_or_segment_apart_are_taken_as_they_are() -> None:
    """One system has both ids; segments have their own queries, and others that begin with 0, or one such query."""
    qrels = lost_in("who").select("query", doc=pl.lit("a"), grade=1).head(3)
    both = pl.concat([lost_in("who"), lost_in("who")[3:5].with_columns(who=pl.lit("A"))])
    kept = pl.concat([lost_in("who"), lost_in("who").head(1).with_columns(query=pl.lit("005"), who=pl.lit("B"))])
    five = pl.concat([qrels, qrels.head(1).with_columns(query=pl.lit("005"))])
    one = lost_in("who").filter(pl.col("query") != "2")
    for frame, judged, role, n in (
        (both, qrels, "system", [3, 3]),
        (kept, five, "by", [3, 2]),
        (one, qrels, "by", [3, 1]),
        (one, qrels, "arm", [3, 1]),
    ):
        for irm in irms(frame, **{role: "who"}):
            assert as_polars(irm.judge(judged).evaluate("rr"))["n"].to_list() == n


@pytest.mark.parametrize("memory", [1, 3000])
@pytest.mark.parametrize(
    ("of_a", "of_b", "refused"),
    [
        (["1", "01", "x"], ["1", "001", "x"], False),  # both have 1, so that zeros tell queries apart
        (["001", "x", "10"], ["01", "x", "10"], True),
        (["1", "01", "x"], ["1", "x"], False),
        (["001", "002", "x"], ["001", "x"], False),
        (["5", "a01", "x"], ["5", "a1", "x"], False),
        (["00", "x"], ["0", "x"], True),
    ],
)
def test_means_of_pieces_refuse_lost_zeros_as_memory_does(
    of_a: list[str], of_b: list[str], refused: bool, memory: int
) -> None:
    """Pieces send sums, without single queries; queries of several columns, and categories, are read as well."""
    others = [str(i) for i in range(100, 110)]
    rows = [(who, q, str(3), "a", 1.0, 1) for who, ids in (("A", of_a), ("B", of_b)) for q in (*ids, *others)]
    log = pl.DataFrame(rows, schema=["who", "query", "turn", "doc", "score", "label"], orient="row")
    mixed = log.sample(fraction=1, shuffle=True, seed=3)
    for frame, query in ((log, "query"), (mixed.with_columns(pl.col("query").cast(pl.Categorical)), ["turn", "query"])):
        whole = frame.irm(query=query, system="who")
        for irm in (whole, in_pieces(whole, memory)):
            if refused:
                with pytest.raises(StrangeIdsError, match="some queries of who = B are those of other systems"):
                    as_polars(irm.evaluate("rr"))
            else:
                n = len({*of_a, *of_b, *others})
                assert as_polars(irm.evaluate("rr"))["n"].to_list() == [n, n]


def test_ids_are_not_to_be_made_of_one_length_where_zeros_tell_some_apart() -> None:
    """A system, or the judgments, have 2 and 02, which would be one; a letter before all, or a corrected id, works."""
    log = lost_in("who").filter(pl.col("query").is_in(["1", "001"])).with_columns(label=1)
    two = [log.with_columns(query=pl.lit(query), doc=pl.lit(query)) for query in ("2", "02")]
    log, qrels = pl.concat([log, *two]), log.filter(who="A").select("query", "doc", "label")
    text = "'2' and '02' are both there, so zeros tell some ids apart: correct the wrong ids alone, or put a letter"
    for irm in irms(log, system="who"):
        with pytest.raises(StrangeIdsError, match=text):
            as_polars(irm.evaluate("rr"))
    both = pl.concat([qrels, *(qrels.with_columns(query=pl.lit(query)) for query in ("2", "02"))])
    for irm in irms(log.filter(pl.col("query").is_in(["1", "2"]), who="B").drop("who", "label")):
        with pytest.raises(StrangeIdsError, match=text):
            as_polars(irm.judge(both).evaluate("rr"))
    for n, way in ((4, "q" + pl.col("query")), (3, pl.col("query").replace("1", "001"))):
        assert log.with_columns(query=way).irm(query="query", system="who").evaluate("rr")["n"].to_list() == [n, n]


def test_an_error_of_no_common_id_shows_two_that_are_almost_alike() -> None:
    """Of queries, of documents, and of saved numbers; in memory and in pieces."""
    judged = QRELS.with_columns(label=1)
    pairs = ((pl.col("doc").str.to_uppercase(), "'x', the judgments 'X'"), (pl.col("query") + " ", "'a', the judgm"))
    for other, text in pairs:
        for irm in irms(RUN):
            with pytest.raises(BadValueError, match=f"the log has {text}.*differ in case, spaces or zeros only"):
                as_polars(irm.judge(judged.with_columns(other)).evaluate("rr"))
    saved = pl.DataFrame({"query": [*"ab"], "value": [1.0, 0.0], "metric": "rr"})
    with pytest.raises(BadValueError, match="differ in case, spaces or zeros only: write them alike"):
        saved.irm(value="value").compare("rr", baseline=saved.with_columns(pl.col("query").str.to_uppercase()))


def test_a_document_in_two_spellings_that_the_ranking_has_itself_is_another_one() -> None:
    """Ids that differ in case may be two documents; another system may write the same one otherwise."""
    check = "documents written otherwise in the judgments"
    both = pl.DataFrame({"system": [*"mmn"], "query": "a", "doc": ["x", "X", "X"], "score": [2.0, 1.0, 1.0]})
    qrels = pl.DataFrame({"query": ["a"], "doc": ["x"], "grade": [1]})
    for irm in irms(both, system="system"):
        row = said(irm.judge(qrels), check)
        assert (row["n"], row["share"], row["example"]) == (1, 1 / 3, "'X' and 'x'")
    lists = pd.DataFrame({"query": ["a", "b"], "doc": [["x", "y"], ["z"]], "relevant": [["X"], ["z"]]})
    assert said(lists.irm, check)["n"] == 1
    assert check not in both.head(2).irm(system="system").judge(qrels).audit()["check"].to_list()


def test_segments_that_share_no_value_with_the_judgments() -> None:
    """The summary names the cause, and not that systems have no rows; its figures are those of evaluate."""
    rows = [
        (s, f"{q}", d, d + k, "long" if q % 2 else "short")
        for k, s in enumerate("mn")
        for q in range(40)
        for d in (1, 2)
    ]
    run = pl.DataFrame(rows, schema=["system", "query", "doc", "score", "seg"], orient="row")
    qrels = run.filter(system="m").select("query", "doc", "seg", grade=pl.col("doc") % 2)
    upper = run.irm(system="system", by="seg").judge(qrels.with_columns(pl.col("seg").str.to_uppercase()))
    sentences = upper.summary("rr")["sentence"].to_list()
    assert sentences[0].startswith("The log has 40 of 40 queries in other segments than the judgments have")
    assert "no rows for" not in " ".join(sentences)
    assert any(one.startswith("In all, rr of m is 0.000") for one in sentences)
    total = upper.evaluate("rr", margins=True).filter(pl.col("total_over").is_not_null())
    assert total["value"].to_list() == [0, 0]
    assert not any("no rows for" in message for message in upper.audit()["message"])


def test_a_null_segment_in_the_judgments_is_named() -> None:
    """It is a segment of its own, with queries of the log again; without the column they are of all segments."""
    run = RUN.with_columns(seg=pl.lit("s"))
    qrels = QRELS.with_columns(label=1, seg=pl.Series(["s", None, "s"]))
    for irm in irms(run, by="seg"):
        table = as_polars(irm.judge(qrels).audit())
        each = dict(table.select("check", "n").iter_rows())
        assert each["judgments without a segment"] == 1
        assert each["queries in several segments"] == 1
        assert "systems without rows for some queries" not in each
        assert "The judgments have other values of seg than the log has for them" in " ".join(table["message"])
    assert run.irm(by="seg").judge(qrels.drop("seg")).evaluate("recall", margins=True)["n"].to_list() == [2, 2]
    own = run.with_columns(seg=pl.Series(["s", "s", None]))
    theirs = QRELS.with_columns(label=1, seg=pl.Series(["s", "s", None]))
    assert "judgments without a segment" not in own.irm(by="seg").judge(theirs).audit()["check"].to_list()


def halves(**columns: Any) -> pl.DataFrame:
    """Return a log of two systems, of which b writes 8 of 20 queries in upper case."""
    one = pl.DataFrame({"system": "a", "query": [f"q{i}" for i in range(20)], "doc": "x", "score": 1.0, **columns})
    upper = pl.when(pl.int_range(20) < 8).then(pl.col("query").str.to_uppercase()).otherwise("query")
    return one.vstack(one.with_columns(system=pl.lit("b"), query=upper))


def test_queries_that_one_of_two_systems_writes_otherwise() -> None:
    """Beside judgments, in a log with its own grades, and in saved numbers; in pieces and each kind of frame."""
    frame, qrels = halves(), halves().filter(system="a").select("query", "doc", grade=1)
    beside, own = "queries written otherwise in the judgments", "queries that systems write otherwise"
    alone = frame.filter(system="b").drop("system").irm.judge(qrels)
    assert said(alone, beside)["n"] == 8
    graded = halves(grade=1).irm(system="system")
    saved = graded.per_query("rr").irm(system="system", value="value")
    each = [(irm.judge(qrels), beside) for irm in irms(frame, system="system")]
    each += [(irm, own) for irm in (*irms(halves(grade=1), system="system"), saved)]
    for irm, check in each:
        row = said(irm, check)
        assert (row["severity"], row["n"], row["share"]) == ("warning", 8, 8 / 20)
        assert row["message"].startswith(f"8 of 20 queries of {'b' if check == beside else 'a'} are ")
        assert row["message"].endswith("Write ids alike first")
        lacks = said(irm, "systems without rows for some queries")["message"]
        assert "The log has 8 of them under another spelling, as" in lacks
        assert "drop" not in lacks
    sentences = frame.irm(system="system").judge(qrels).summary("rr", baseline="a")["sentence"]
    assert sentences[0].startswith("8 of 20 queries of b are judged under another spelling: 'Q0' and 'q0'.")
    assert "unanswered=" not in " ".join(sentences)
    assert saved.summary("rr")["sentence"][0].startswith("8 of 20 queries of a are those of other systems")
    alike = halves(grade=1).with_columns(pl.col("query").str.to_lowercase()).irm(system="system")
    assert own not in odd(alike)["check"].to_list()


def test_ids_that_case_tells_apart_are_not_written_otherwise() -> None:
    """To write them alike would make one of two judgments, documents, or queries."""
    checks = [f"{what} written otherwise in the judgments" for what in ("queries", "documents")]
    checks += ["queries that systems write otherwise", "queries written otherwise in the baseline"]
    qrels = pl.DataFrame({"query": "q", "doc": ["abc", "ABC", "x"], "grade": [1, 0, 1]})
    one = pl.DataFrame({"query": "q", "doc": ["Abc", "x"], "score": [2.0, 1.0]})
    two = pl.DataFrame({"query": "q", "doc": ["Abc", "ABc", "x"], "score": [3.0, 2.0, 1.0]})
    queries = qrels.select(query="doc", doc=pl.lit("x"), grade=1)
    both = pl.DataFrame({"system": [*"aabb"], "query": ["q", "Q", "q", "x"], "score": 1.0, "grade": 1})
    for irm in (
        *(one.irm(query="query").judge(qrels), two.irm(query="query").judge(qrels[[0, 2]])),
        *(one.select(query="doc", doc=pl.lit("x"), score="score").irm(query="query").judge(queries),),
        *(both.irm(query="query", system="system"), in_pieces(both.irm(query="query", system="system"))),
    ):
        assert not {*checks} & {*as_polars(irm.audit())["check"]}
    saved = pl.DataFrame({"query": ["CA", "cA", "x"], "value": 1.0, "metric": "rr"})
    before = saved.with_columns(pl.col("query").replace("CA", "ca"))[[0, 2]]
    assert checks[-1] not in saved.irm(value="value").audit(baseline=before)["check"].to_list()
    null = pl.DataFrame({"query": "q", "doc": ["X", "b"], "score": [None, 1.0]})
    judged = pl.DataFrame({"query": "q", "doc": ["x", "b"], "grade": 1})
    assert checks[1] not in null.irm(query="query").judge(judged).audit()["check"].to_list()


def test_queries_that_the_log_writes_in_several_ways_need_the_judgments_of_one() -> None:
    """Alike they would be one query with its document twice; the way out that is offered works."""
    run = pl.DataFrame({"query": ["CA", "cA", "Ca ", "x"], "doc": "a", "score": 1.0})
    qrels = pl.DataFrame({"query": ["ca", "x"], "doc": "a", "grade": 1})
    irm = run.irm(query="query").judge(qrels)
    row, lacks = said(irm, "queries written otherwise in the judgments"), "systems without rows for some queries"
    assert (row["n"], row["share"]) == (3, 3 / 4)
    assert row["message"].endswith("so copy the judgments to each spelling")
    assert "The log has 1 of them under another spelling" in said(irm, lacks)["message"]
    each = qrels.vstack(pl.DataFrame({"query": ["CA", "cA", "Ca "], "doc": "a", "grade": 1}))[1:]
    copied = run.irm(query="query").judge(each)
    assert copied.evaluate("rr").select("value", "n", "n_unanswered").row(0) == (1.0, 4, 0)
    assert odd(copied).filter(pl.col("check").str.contains("otherwise")).is_empty()


def test_one_query_in_two_spellings_leaves_the_way_out_for_the_others() -> None:
    """Of 31 queries without rows one is there otherwise: the other 30 may be left out."""
    run = pl.DataFrame({"query": ["new", *(f"q{i}" for i in range(10))], "doc": "a", "score": 1.0})
    qrels = pl.DataFrame({"query": ["New", *(f"q{i}" for i in range(40))], "doc": "a", "grade": 1})
    irm = run.irm.judge(qrels)
    assert said(irm, "systems without rows for most queries")["message"].endswith(
        "The log has 1 of them under another spelling, as 'new' and 'New': write ids alike first. If it was not asked "
        "the others, pass unanswered='drop'; if it found nothing, 0 is right"
    )
    sentences = irm.summary("rr")["sentence"]
    assert any("If it was not asked the others: unanswered='drop'." in sentence for sentence in sentences)


def test_an_audit_of_pieces_lists_bad_rows_beside_ids_that_no_judgment_has() -> None:
    """As in memory: the error about all rows does not hide those about single ones."""
    run = pl.DataFrame({"query": ["q", "q", None], "doc": ["x", None, "z"], "score": [2.0, 1.0, 1.0]})
    qrels = pl.DataFrame({"query": ["k"], "doc": ["z"], "grade": [1]})
    irm = run.irm(query="query").judge(qrels)
    memory, pieces = (as_polars(each.audit()) for each in (irm, in_pieces(irm)))
    assert memory.filter(severity="error").height == 3
    assert pieces.drop("example").sort("check").equals(memory.drop("example").sort("check"))
