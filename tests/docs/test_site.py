"""The site: pages as it wants them, links that lead somewhere, nothing from other hosts. .ci/run builds it."""

from __future__ import annotations

import json
import re
import textwrap
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

import frame_metrics
import front
import literature
import llms
import readability
import shelves
import site_looks
from helpers import ROOT, script

site = script(ROOT / "docs" / "scripts" / "build_site.py")
site.PACKAGE = Path(frame_metrics.__file__).parent


def test_links_lead_to_pages_of_the_site() -> None:
    """Links of the README into docs/ and to examples, and those of pages back, are those of the site."""
    readme, page, deep = ROOT / "README.md", ROOT / "docs" / "scale.md", ROOT / "docs" / "recipes" / "spark.md"
    assert site.moved(readme, "docs/concepts.md") == "concepts.md"
    assert site.moved(readme, "examples/rag_log.py") == "examples/rag_log.md"
    assert site.moved(page, "../examples/spark_job.py") == "examples/spark_job.md"
    assert site.moved(deep, "../../examples/spark_job.py") == "../examples/spark_job.md"
    assert site.moved(deep, "../../README.md") == "../overview.md"
    assert site.moved(page, "https://example.org/a.md") == "https://example.org/a.md"


def test_code_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What looks like a link inside a block of code is none."""
    monkeypatch.setattr(site, "ROOT", tmp_path)
    page = tmp_path / "README.md"
    page.write_text("[a](docs/a.md#b)\n\n```text\n[a](docs/a.md)\n```\n\n[b](docs/b.md)\n", encoding="utf-8")
    assert site.page(page) == "[a](a.md#b)\n\n```text\n[a](docs/a.md)\n```\n\n[b](b.md)\n"


def test_wide_pictures_have_a_narrow_one_for_phones() -> None:
    """Each that is wider than a phone is drawn once more; the page shows one of both."""
    pictures, text = ROOT / "docs" / "pictures", site.page(ROOT / "docs" / "pictures.md")
    for path in pictures.glob("*.svg"):
        width = float(path.read_text(encoding="utf-8").partition(' width="')[2].partition('"')[0])
        narrow = f'<source media="(max-width: 40rem)" srcset="pictures/{path.stem}_narrow.svg"><img alt="'
        drawn = f'src="pictures/{path.stem}.svg"' in text
        assert not drawn or width > 400
        assert drawn == (narrow in text)
        assert width <= 400 or drawn or path.stem == "front"


def test_blocks_below_words_in_bold_are_tabs() -> None:
    """Two words in bold with a block of code each become two tabs; other bold words stay."""
    text = "So:\n\n**pandas**\n\n```python\n>>> 1\n\n1\n```\n\n**polars**\n\n```python\n>>> 2\n```\n\n**Then** more.\n"
    assert site.tabs(text) == (
        'So:\n\n=== "pandas"\n\n    ```python\n    >>> 1\n\n    1\n    ```\n\n'
        '=== "polars"\n\n    ```python\n    >>> 2\n    ```\n\n**Then** more.\n'
    )


def pages_of(part: str | dict[str, list[str]]) -> list[str]:
    """The pages of a group of the navigation; a page is its own."""
    return [part] if isinstance(part, str) else [page for pages in part.values() for page in pages]


def test_every_page_has_a_section() -> None:
    """The navigation has every page once, in a shelf or a group of one, and refuses one that is in no section."""
    pages = {site.site_path(path) for path in site.sources()} | set(site.api())
    (found,) = tomllib.loads(f"nav = {shelves.navigation(pages)}").values()
    placed = [page for shelf in found for parts in shelf.values() for part in parts for page in pages_of(part)]
    assert sorted(placed) == sorted(pages)
    assert [title for shelf in found for title in shelf] == ["Start", "Do", "Look up", "Understand", "Developers"]
    with pytest.raises(SystemExit, match=r"no section of docs/scripts/shelves.py has new\.md"):
        shelves.navigation({*pages, "new.md"})


@pytest.mark.parametrize(
    "folder", ["start", "recipes", "metrics", "look_up", "coming_from", "understand", "developers"]
)
def test_a_new_page_of_a_folder_has_a_section(folder: str) -> None:
    """Pages of a folder stand on its shelf without being named."""
    assert [pages for _, pages in shelves.sections({f"{folder}/new.md"})] == [[f"{folder}/new.md"]]


def test_pages_stand_in_the_order_of_their_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first page of a folder says the order of the others; what it does not link comes last."""
    monkeypatch.setattr(shelves, "ROOT", tmp_path)
    (tmp_path / "docs" / "recipes").mkdir(parents=True)
    (tmp_path / "docs" / "recipes" / "index.md").write_text("[z](z.md), [b](b.md#x)", encoding="utf-8")
    pages = [f"recipes/{name}.md" for name in "abz"]
    assert shelves.in_order(pages) == ["recipes/z.md", "recipes/b.md", "recipes/a.md"]


def test_every_public_name_stands_on_a_page_of_the_api() -> None:
    """What the package exports, and no more, has an entry; the metrics have a page of their own."""
    written = [line.removeprefix("::: ") for page in site.api().values() for line in page.splitlines() if ":::" in line]
    names = {*frame_metrics.__all__, *site.public()} - {"metrics"}
    assert sorted(written) == sorted(f"frame_metrics.{name}" for name in names)


def test_recipes_stand_in_the_groups_of_their_first_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A heading of the first page is a group of what it links; what it does not link stands above the groups."""
    monkeypatch.setattr(shelves, "ROOT", tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# R\n\n## One\n\n[a](a.md)\n\n## Two\n\n[b](b.md#x)\n")
    found = shelves.by_heading("Do", ["index.md", "a.md", "b.md", "c.md"])
    assert found == [("Do", ["index.md", "c.md"]), ("Do: One", ["a.md"]), ("Do: Two", ["b.md"])]


def test_the_calls_of_the_front_run() -> None:
    """Each door shows a call, for a frame with the columns that it names."""
    ranks = {"rank": [1, 2] * 4, "query": [1, 1, 2, 2, 3, 3, 4, 4], "label": [1, 0, 0, 1] * 2}
    known = {
        "log": pl.DataFrame({"query": ["a", "a", "b"], "bm25": [3.0, 2.0, 1.0], "rating": [0, 2, 1]}),
        "clicks": pl.DataFrame({**ranks, "variant": ["old"] * 4 + ["new"] * 4, "user": [1, 1, 2, 2, 3, 3, 4, 4]}),
        "cases": pl.DataFrame({"ill": [1, 0, 1, 0], "risk": [0.9, 0.1, 0.8, 0.3]}),
    }
    doors = re.findall(
        r"^    ```python\n(.*?)^    ```", (ROOT / "docs" / "index.md").read_text(), re.MULTILINE | re.DOTALL
    )
    assert len(doors) == 3
    for door in doors:
        exec(textwrap.dedent(door), dict(known))


def test_links_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    """A page that is not there, a place that is not on it, and what another host has to send, are problems."""
    (tmp_path / "a.html").write_text('<h1 id="top">A</h1><a href="b.html#c">b</a><a href="https://example.org">x</a>')
    (tmp_path / "b.html").write_text('<h1 id="c">B</h1><a href="a.html#top">a</a>')
    assert list(site.problems(tmp_path)) == []
    (tmp_path / "b.html").write_text('<a href="a.html#no">a</a><a href="c.html">c</a><img src="//example.org/x.png">')
    (tmp_path / "s.css").write_text("@import 'https://example.org/font.css'; a { background: url(data:image/png,x) }")
    assert list(site.problems(tmp_path)) == [
        "a.html: b.html#c has no such place",
        "b.html: a.html#no has no such place",
        "b.html: c.html leads nowhere",
        "b.html fetches //example.org/x.png",
        "s.css fetches https://example.org/font.css",
    ]


# Words that users type


@pytest.mark.parametrize("place", literature.lines_of(literature.WORDS))
def test_words_that_users_type_stand_beside_a_heading(place: str) -> None:
    """Each place of docs/words.txt is a heading of the site, and all of its words stand there."""
    page, _, anchor = place.partition("#")
    pages = {site.site_path(path): path for path in site.sources()}
    headings = re.findall(r"^(#+ .*)$", site.page(pages[page]), flags=re.MULTILINE)
    titles = [one for one in headings if literature.anchor(one.lstrip("# ")) == anchor]
    beside = [one for one in headings if (f"{{ #{anchor} " in one if anchor else one.startswith("# "))]
    said = [*beside, *titles][0]
    for word in literature.lines_of(literature.WORDS)[place]:
        assert word.lower() in said.lower()


def test_headings_with_words_come_first_in_the_index(tmp_path: Path) -> None:
    """Of hits that are as good the search shows the first; words with a letter alone stand in the path too."""
    index = tmp_path / "search.json"
    entry = {"title": "ndcg <small>hits, P@10</small>", "path": ["Metrics"], "location": "metrics/ranking.html#ndcg"}
    items = [{"title": "Design", "path": ["About"], "location": "design.html"}, entry]
    index.write_text(json.dumps({"items": items}))
    site.order_of_hits(index)
    (first, second) = json.loads(index.read_text())["items"]
    assert first["path"] == ["P@10", "ndcg", "Metrics"]
    assert second == items[0]


def test_what_is_wrong_with_a_block_of_code_is_said() -> None:
    """A block that scrolls, cannot be copied, or is copied with what does not run, is a problem; others are none."""
    block = {"over": 0, "language": "pycon", "copied": "show(1)", "text": ">>> show(1)"}
    assert list(site_looks.of_block(block)) == []
    assert list(site_looks.of_block({**block, "language": "text", "copied": "a b"})) == []
    assert list(site_looks.of_block({**block, "over": 7})) == ["'>>> show(1)' is 7 px wider than its column"]
    assert list(site_looks.of_block({**block, "copied": None})) == ["'>>> show(1)' cannot be copied"]
    (said,) = site_looks.of_block({**block, "copied": ">>> show(1)"})
    assert said.startswith("'>>> show(1)' does not run when it is copied: invalid syntax")
    (said,) = site_looks.of_block({**block, "language": "console", "copied": "$ ls"})
    assert said.endswith("is copied with its prompt")


def test_the_picture_of_the_readme_has_the_intervals_that_were_printed() -> None:
    """Each interval holds its value, and every system has all metrics of the picture."""
    values, n = front.measured()
    assert n > 100
    assert {*values} >= {(metric, system) for metric in front.METRICS for system in front.SYSTEMS}
    assert [key for key, (value, low, high) in values.items() if not low <= value <= high] == []


def test_language_models_get_every_page(tmp_path: Path) -> None:
    """llms.txt has a link and a sentence of each page, llms-full.txt the page; comments and links are left out."""
    pages = {
        "index.md": "# A\n\n<!-- x -->\n```sh\nB is no prose\n```\n\nC [d](e.md). F.\n",
        "g.md": "# G <small>h</small>\n\nI.\n",
    }
    llms.write(tmp_path, pages, [("One", ["index.md"]), ("Two", ["g.md"])])
    short, long = ((tmp_path / name).read_text() for name in ("llms.txt", "llms-full.txt"))
    assert "> C d." in short
    assert short.endswith("## Two\n\n- [G](g.html): I.\n")
    assert long.count("B is no prose") == 1
    assert "x -->" not in long


# Formulas


def written(mathml: str) -> str:
    """A formula in one line: a fraction as {above}/{below}, a power as {base}^{power}."""
    text = re.sub(r"<(?:mspace|munder|math)[^>]*>|</m(?:o|i|n|row|under|ath|text)>", " ", mathml)
    text = re.sub(r"<m(?:o|i|n|row|text)(?: [^>]*)?>", " ", text)
    return re.sub(r"\s+", " ", re.sub(r"</?(\w+)>", r"\1", text)).strip()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("tp / (tp + fp)", "mfrac tp tp + fp mfrac"),
        ("tp tn / (fp (fn + up))", "mfrac tp tn fp ( fn + up ) mfrac"),
        ("(1 - p) (1 + p) / N", "mfrac ( 1 - p ) ( 1 + p ) N mfrac"),
        ("alpha = 1 / (1 + beta^2)", "\N{GREEK SMALL LETTER ALPHA} = mfrac 1 1 + msup β 2 msup mfrac"),
        ("sqrt(miss_rate^2 + fallout)", "msqrt msup miss_rate 2 msup + fallout msqrt"),
        ("sum over r <= k of gain(r) / 2", "∑ r ≤ k mfrac gain ( r ) 2 mfrac"),
        ("min(tp, R) - |recall - fallout|", "min ( tp , R ) - | recall - fallout |"),
        ("at a cutoff k, tp / k; places count", "at a cutoff k, mfrac tp k mfrac ; places count"),
        ("1 if there is one, else 0", "1 if there is one, else 0"),
        ("1 / rank of the first", "1 / rank of the first"),
    ],
)
def test_formulas_are_set_and_words_are_left(text: str, shown: str) -> None:
    """A fraction stands over its line, a power above; what is not a formula from end to end stays as it is."""
    names = {"tp", "fp", "fn", "tn", "up", "recall", "fallout", "miss_rate"}
    assert written(site.typeset(text, names)) == shown


def test_headings_of_the_metrics_have_the_terms_of_the_literature() -> None:
    """A heading keeps its anchor, and says beside the name what the literature and searches call the metric."""
    ranking, classes = (site.page(ROOT / "docs" / "metrics" / name) for name in ("ranking.md", "classes.md"))
    words = "MRR, mean reciprocal rank, reciprocal rank, mrr@5, mrr@10, rr@10"
    assert f'\n### rr <small>{words}</small> {{ #rr data-toc-label="rr" }}\n' in ranking
    assert '\n### coverage { #coverage data-toc-label="coverage" }\n' in classes


def test_formulas_of_the_metrics_are_well_formed() -> None:
    """The pages of metrics have most of their formulas set, each of them in elements that close."""
    found = [one for path in literature.METRICS.glob("*.md") for one in re.findall(r"<math.*?</math>", site.page(path))]
    assert len(found) > 50
    for one in found:
        ElementTree.fromstring(one)


# Readability


def test_short_words_in_short_sentences_read_more_easily() -> None:
    """The score rises as words and sentences get shorter; code, tables and headings are no prose."""
    plain = "The cat sat. It saw a dog. The dog ran."
    hard = "Notwithstanding considerable institutional complications, administrative representatives persevered."
    assert readability.reading_ease(plain) > 90 > 10 > readability.reading_ease(hard)
    with_code = f"# Heading\n\n{plain}\n\n```text\nincomprehensibilities\n```\n\n| incomprehensibilities |\n"
    assert readability.reading_ease(with_code) == pytest.approx(readability.reading_ease(plain))
