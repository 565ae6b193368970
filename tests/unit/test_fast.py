"""Fast code beside plain code: what ``frame_metrics/fast`` gives is what a few plain lines give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest

from frame_metrics.fast.blocks import each_block
from frame_metrics.fast.codes import codes, n_different, sparse_codes
from frame_metrics.fast.concatenated import Concatenated
from frame_metrics.fast.equal_rows import differ, first_equal_rows, run_starts
from frame_metrics.fast.group_rows import group_rows
from frame_metrics.fast.join_ids import ByQuery, can_compare_in_python, id_hash, pairs_of_few_rows, pairs_of_rows
from frame_metrics.fast.radix_sort import sort_by_code
from frame_metrics.fast.rank_order import falling_bits, rank_order, scores_of_bits, sort_keys
from frame_metrics.fast.take_rows import rows_at
from inside import Array, equal_hashes, small_blocks

TEXTS = ["", " ", "a", "A", "\0", "é", "é", "a" * 40, None]
# Values of each type, some of which look alike.
KINDS: dict[str, tuple[list[Any], Any]] = {
    "small integers": ([0, 1, 2, 3, -1, None], pl.Int8),
    "integers": ([0, 1, -(2**63), 2**63 - 1, 7, 2**53 + 1, 2**53], pl.Int64),
    "unsigned": ([0, 1, 2**64 - 1, 2**63], pl.UInt64),
    "wide integers": ([0, 1, -(2**100), 2**100, None], pl.Int128),
    "floats": ([0.0, -0.0, 1.5, float("nan"), float("inf"), -float("inf"), 5e-324, None], pl.Float64),
    "bool": ([True, False, None], pl.Boolean),
    "text": (TEXTS, pl.String),
    "categories": (TEXTS, pl.Categorical),
    "enum": (["x", "y", "z", None], pl.Enum(["x", "y", "z"])),
    "dates": ([date(1, 1, 1), date(2024, 2, 29), date(9999, 12, 31), None], pl.Date),
    "times": ([datetime(2024, 1, 1) + timedelta(microseconds=i) for i in range(5)], pl.Datetime("ns")),
    "decimals": ([Decimal("1.10"), Decimal("1.1"), Decimal("-0.01"), None], pl.Decimal(10, 2)),
    "structs": (
        [{"a": 1, "b": "x"}, {"a": 1, "b": None}, {"a": None, "b": "x"}],
        pl.Struct({"a": pl.Int64, "b": pl.String}),
    ),
    "only null": ([None], pl.Null),
}
SHRUNK = {"as it is": nullcontext, "small blocks": lambda: small_blocks(7)}


def columns(kind: str, seed: int) -> Iterator[pl.Series]:
    """Give columns of a type: none, one and many rows; equal values together, mixed, and each alone."""
    rng = np.random.default_rng(seed)
    values, dtype = KINDS[kind]
    for n in (0, 1, 2, 3, 60, 1200):
        at = rng.integers(0, len(values), n)
        for order in (at, np.sort(at), np.zeros(n, int))[: 2 if n > 1000 else 3]:
            yield pl.Series("a", [values[i] for i in order], dtype)


def frames(kind: str, seed: int) -> Iterator[pl.DataFrame]:
    """Give such columns, and a second one beside each that is cut into other runs."""
    for column in columns(kind, seed):
        yield pl.DataFrame([column, pl.Series("b", np.arange(len(column)) // 3 % 4)])


def plain(values: Any) -> Any:
    """Return a value that Python compares as polars does."""
    return "not a number" if values != values else repr(values) if isinstance(values, dict) else values


def plain_codes(frame: pl.DataFrame, keys: list[str]) -> tuple[Array, Array]:
    """Number rows by a dict."""
    place: dict[Any, int] = {}
    rows = [tuple(map(plain, row)) for row in frame.select(keys).iter_rows()]
    code = [place.setdefault(row, len(place)) for row in rows]
    return np.array(code, int), np.array([rows.index(row) for row in place], int)


def equal(*pairs: tuple[Any, Any]) -> None:
    """Check that arrays are equal, one with the other."""
    for one, other in pairs:
        np.testing.assert_array_equal(one, other)


@pytest.fixture(params=SHRUNK)
def sizes(request: pytest.FixtureRequest) -> Iterator[None]:
    """Go the ways of small and of large tables."""
    make: Callable[[], Any] = SHRUNK[request.param]
    with make():
        yield


@pytest.mark.parametrize("kind", KINDS)
def test_equal_rows_are_found_as_by_a_dict(sizes: None, kind: str) -> None:
    """Codes, first equal rows, runs and numbers of distinct values, of one column and of two."""
    for seed, frame in enumerate(frames(kind, 0)):
        for keys in (["a"], ["b", "a"]):
            code, first = plain_codes(frame, keys)
            equal((codes(frame, keys)[0], code), (codes(frame, keys)[1], first))
            equal((first_equal_rows(frame, keys), first[code] if len(code) else code))
            runs = np.flatnonzero(np.append(True, code[1:] != code[:-1])[: len(code)])
            found = run_starts(frame, keys)
            assert (2 * len(runs) > len(code) >= 1000) if found is None else found.tolist() == runs.tolist()
        code, first = plain_codes(frame, ["a"])
        number = sparse_codes(frame["a"]).cast(pl.Float64).fill_null(-(2.0**60)).to_numpy()
        assert len({*zip(code.tolist(), number.tolist(), strict=True)}) == len({*number.tolist()}) == len(first)
        if frame["a"].dtype != pl.Null:
            assert n_different(frame["a"], id_hash(frame["a"]).cast(pl.UInt32, wrap_numerical=True)) == len(first)
            assert n_different(frame["a"], pl.Series(np.arange(len(code)) * 0 + seed, dtype=pl.UInt32)) == len(first)


@pytest.mark.parametrize("kind", KINDS)
def test_columns_are_compared_as_values(kind: str) -> None:
    """A null equals a null, and NaN equals NaN."""
    for seed in range(3):
        for one, other in zip(columns(kind, seed), columns(kind, seed + 10), strict=True):
            both = zip(one.to_list(), other.to_list(), strict=True)
            equal((differ(one, other), [plain(a) != plain(b) for a, b in both]))


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_grouped_as_by_a_stable_sort(sizes: None, kind: str) -> None:
    """The first row, begin and length of each group, and the columns laid out, with row numbers or without."""
    for frame in frames(kind, 1):
        n = len(frame)
        held = frame.with_columns(
            x=pl.Series(np.arange(n) * 0.5).cast(pl.Float32), y=pl.Series([None] * n, dtype=pl.Int8)
        )
        for keys in (["a"], ["b", "a"], []):
            code, first = plain_codes(frame, keys) if keys else (np.zeros(n, int), np.arange(n)[:1])
            order = np.argsort(code, kind="stable")
            lengths = np.bincount(code, minlength=len(first))
            for rows in (True, False):
                got = group_rows(held, keys, ["x", "y"], rows=rows)
                equal((got[0], first), (got[1], lengths.cumsum() - lengths), (got[2], lengths))
                equal((got[4]["x"], order * 0.5), (np.isnan(got[4]["y"]), np.ones(n, bool)))
                assert got[3] is None or got[3].tolist() == order.tolist()
                assert not (rows and got[3] is None) or order.tolist() == [*range(n)]


@pytest.mark.parametrize("rows", [0, 1, 5, 1000, 70_000, 300_000])
def test_rows_are_sorted_by_code(rows: int) -> None:
    """As by a stable sort of the codes, in one step or in two."""
    rng = np.random.default_rng(rows)
    for count in (1, 2, 300, 40_000):
        code = rng.permutation(count).astype(np.min_scalar_type(count))
        slot = rng.integers(0, count, rows)
        values = {"a": rng.random(rows), "b": np.arange(rows, dtype=np.uint32)}
        lengths, out = sort_by_code(slot, code, count, values)
        order = np.argsort(code[slot], kind="stable")
        equal((lengths, np.bincount(code[slot], minlength=count)), *((out[name], values[name][order]) for name in out))


@pytest.mark.parametrize("wide", [8, 1 << 16])
def test_scores_are_put_in_rank_order(sizes: None, wide: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores fall within each ranking, whatever bits they share, and equal ones are told of."""
    monkeypatch.setattr("frame_metrics.fast.rank_order.MIN_LENGTH_FOR_ARGSORT", wide)
    rng = np.random.default_rng(0)
    near = 1 + np.arange(40) * 2.0**-52  # they differ in the bits that the positions take
    scores = (
        rng.random(40),
        near,
        -near,
        np.zeros(40),
        np.array([0.0, -0.0, -np.inf, 5e-324]),
        rng.integers(0, 3, 9) / 1,
    )
    for trial in range(60):
        lengths = rng.integers(0, 12, rng.integers(1, 20))
        score = rng.choice(scores[trial % len(scores)], lengths.sum())
        ranking = np.repeat(np.arange(len(lengths)), lengths)
        order, ties = rank_order(score, lengths)
        plain = np.lexsort((-score, ranking))
        if order is None:
            equal((plain, np.arange(len(score))))
        else:
            equal((np.sort(order), np.arange(len(score))), (ranking[order], ranking), (score[order], score[plain]))
        best = score[plain]
        same = (best[1:] == best[:-1]) & (ranking[1:] == ranking[:-1]) & (best[1:] > -np.inf)
        assert ties or not same.any()
        equal((scores_of_bits(falling_bits(score)), score))
        equal((score[np.argsort(falling_bits(score), kind="stable")], score[np.argsort(-score, kind="stable")]))


@pytest.mark.parametrize("keys", [0, 1, 6, 7, 8, 40])
def test_keys_are_sorted_in_their_place(keys: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys sorted seven at a time are those sorted at once."""
    monkeypatch.setattr("frame_metrics.fast.rank_order.KEYS_SORTED", 7)
    found = np.random.default_rng(keys).integers(0, 1 << 64, keys, np.uint64)
    expected = np.sort(found)
    sort_keys(found)
    equal((found, expected))


def test_each_ranking_is_in_one_block(sizes: None) -> None:
    """Blocks of whole rankings cover all of them, once each, whatever their sizes."""
    rng = np.random.default_rng(0)
    for most in (1, 2, 40):
        for n in (0, 1, 2, 300):
            size, seen = rng.integers(0, most + 1, n) ** 2, np.zeros(n, int)

            def work(block: slice | Array, seen: Array = seen) -> None:
                seen[block] += 1

            each_block(size, work)
            equal((seen, np.ones(n)))


def test_arrays_are_read_as_one() -> None:
    """Slices and positions of several arrays are those of the long array; row numbers go on from one to the next."""
    rng = np.random.default_rng(0)
    for n, step in ((0, 0), (1, 0), (5, 0), (5, 5)):
        parts = [rng.integers(0, 9, n).astype(kind) for kind in ("int8", "int32", "float32")]
        view = Concatenated(parts if step == 0 else [part.astype(int) for part in parts], step)
        whole = np.concatenate([part + i * step for i, part in enumerate(parts)])
        equal((np.asarray(view), whole), (view[:], whole))
        assert len(view) == len(whole)
        for begin in range(len(whole) + 1):
            equal(*((view[begin:end], whole[begin:end]) for end in range(len(whole) + 2)))
        for many in (0, 1, 4, 40) if n else (0,):
            at = rng.integers(0, max(len(whole), 1), many)
            equal((view[at], whole[at]), (view[np.sort(at)], whole[np.sort(at)]))


def test_rows_are_taken_as_of_a_frame() -> None:
    """Column by column, in any order."""
    frame = pl.DataFrame({"a": [1, 2, 3], "b": ["x", None, "z"]})
    assert rows_at(frame, ("b", "a"), np.array([2, 0, 0])).equals(frame.select("b", "a")[[2, 0, 0]])


def pairs(ours: pl.DataFrame, theirs: pl.DataFrame) -> list[tuple[int, int]]:
    """Join two tables by polars: the rows of both whose query and document are equal."""
    one, other = (table.select("q", "doc").with_row_index("at") for table in (ours, theirs))
    both = one.join(other, on=["q", "doc"], nulls_equal=True, suffix="_theirs")
    return sorted(zip(both["at"].to_list(), both["at_theirs"].to_list(), strict=True))


def judgments(rng: np.random.Generator, query: Any, doc: pl.Series) -> tuple[pl.DataFrame, ByQuery]:
    """Make judgments of distinct documents, in any order, and where those of each query are."""
    table = pl.DataFrame({"q": query, "doc": doc}).unique(maintain_order=True)
    table = table.sample(fraction=1, shuffle=True, seed=int(rng.integers(100)))
    first, starts, lengths, order, _ = group_rows(table, ["q"], [], rows=True)
    return table, ByQuery(table[first].select("q"), starts, lengths, order)


@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("hashes", [nullcontext, equal_hashes])
@pytest.mark.parametrize(
    "kind", ["small integers", "integers", "text", "categories", "dates", "bool", "times", "structs"]
)
def test_ids_are_joined_as_by_polars(sizes: None, kind: str, hashes: Any, few: bool) -> None:
    """Rows that stand together or not, repeated or in several systems, with queries and documents on one side only."""
    rng = np.random.default_rng(0)
    values = KINDS[kind][0]
    with hashes():
        for n, m in ((0, 5), (5, 0), (1, 1), (30, 20), (400, 60), (400, 3)):
            for queries in (1, 3, 40):
                doc, other = (
                    pl.Series("doc", rng.choice(np.array(values, object), k).tolist(), KINDS[kind][1]) for k in (n, m)
                )
                query = rng.integers(0, queries, n)
                theirs, by_query = judgments(rng, rng.integers(0, queries + 2, m) - 1, other)
                for order in (np.argsort(query), np.tile(np.argsort(query), 2), np.arange(n)):
                    ours = pl.DataFrame({"q": query[order], "doc": doc.gather(order) if n else doc})
                    if few and not can_compare_in_python(ours, theirs):
                        continue
                    if few:
                        at, judgment = pairs_of_few_rows(ours, theirs, ["q", "doc"])
                    else:
                        hashed = (table.with_columns(hash=id_hash(table["doc"])) for table in (ours, theirs))
                        at, judgment = pairs_of_rows(*hashed, by_query)
                    assert sorted(zip(at.tolist(), judgment.tolist(), strict=True)) == pairs(ours, theirs)
