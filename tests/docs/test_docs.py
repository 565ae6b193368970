"""The docs say what the code does: generated pages are current, links lead somewhere, examples are there to run."""

from __future__ import annotations

import doctest
import inspect
import re
import tomllib
from pathlib import Path

import pytest
import pytrec_eval

import frame_metrics
import literature
import metric_pages
from frame_metrics import metrics
from helpers import ROOT, script
from inside import CLASS_KERNELS, REGISTRY, FullRanking, Lists, TwoRankings, queries_without_results, read_text

DOCS = ROOT / "docs"
PACKAGE = Path(frame_metrics.__file__).parent
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
UNDERSTAND = [DOCS / f"{name}.md" for name in ("start", "concepts", "uncertainty", "clicks", "labels", "decisions")]
UNDERSTAND += [DOCS / "bounds.md", *sorted((DOCS / "understand").glob("*.md"))]
NOT_NUMBERS = {"runid", "relstring"}  # trec_eval lists them among its measures


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


generator = script(DOCS / "scripts" / "generate.py")
SPELLINGS = [(tool, text) for tool, texts in metric_pages.ELSEWHERE.items() for text in texts.split()]


def entries() -> dict[str, str]:
    """The entries of the pages of metrics by metric."""
    found: dict[str, str] = {}
    for page in sorted((DOCS / "metrics").glob("*.md")):
        _, *parts = re.split(r"^### (\S+)\n", read(page), flags=re.MULTILINE)
        found |= zip(parts[::2], parts[1::2], strict=True)
    return found


def anchors(page: Path) -> set[str]:
    """What a link may point at in a page: its headings, as GitHub names them."""
    headings = re.findall(r"^#+ (.*)$", read(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(page: Path) -> list[str]:
    """The targets of a page's links that are no addresses."""
    text = re.sub(r"^```.*?^```", "", read(page), flags=re.MULTILINE | re.DOTALL)
    return [target for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target]


# Generated


@pytest.mark.slow
def test_generated_docs_are_current(capsys: pytest.CaptureFixture[str]) -> None:
    """What `docs/scripts/generate.py` would write is what stands on the pages."""
    assert generator.main(["--check"]) == 0, capsys.readouterr().out


@pytest.mark.slow
def test_generator_check_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--check` fails where a page is out of date, and leaves it so; without it the page is written."""
    pages = tmp_path / "metrics"
    monkeypatch.setattr(generator, "METRICS", pages)
    assert generator.main(["--check"]) == 1
    assert not pages.exists()
    assert generator.main([]) == 0
    assert {page.name: read(page) for page in pages.iterdir()} == {
        page.name: read(page) for page in (DOCS / "metrics").iterdir()
    }


@pytest.mark.parametrize("name", REGISTRY)
def test_every_metric_has_an_entry(name: str) -> None:
    """The entry of a metric has its definition, when it is undefined, its parameters, and its other names."""
    metric, entry = REGISTRY[name], entries()[name]
    assert entry.strip().startswith(metric.doc.splitlines()[0])
    for said in ("- Formula: ", "- Undefined: ", "- Range: ", "- Over queries: "):
        assert said in entry
    assert ("- Over classes: " in entry) == (metric.input not in (FullRanking, TwoRankings, Lists))
    assert ("its own form" in entry) == (metric.name in CLASS_KERNELS)
    for option in metric.options:
        assert re.search(rf"- Parameters: .*`{option}[=`]", entry)
    assert all(f"`{other}`" in entry for other in metric.also)
    assert ("@10`" in entry.partition("- Range")[0]) == (metric.at == "k")


def test_every_metric_stands_in_the_table() -> None:
    """The table on the first page of the metrics links every metric once."""
    assert sorted(re.findall(r"\[(\w+)\]\(\w+\.md#\1\)", metric_pages.table())) == sorted(REGISTRY)


def test_metrics_pages_have_no_others() -> None:
    """The pages list what is in the registry and nothing more."""
    assert set(entries()) == set(REGISTRY)


# Names of other tools


@pytest.mark.parametrize(("tool", "text"), SPELLINGS)
def test_spelling_of_another_tool_is_read(tool: str, text: str) -> None:
    """A spelling that the docs list reads as one metric, whatever its case."""
    ((printed, metric),) = read_text(text)
    assert printed == text
    assert read_text(str(metric))[0][1] == metric
    assert read_text(text.upper() if "(" not in text else text)[0][1] == metric


def test_every_number_of_trec_eval_is_listed() -> None:
    """Each measure of trec_eval 9 is among the spellings, but G, which means two things."""
    listed = metric_pages.ELSEWHERE["trec_eval"].split()
    missing = {
        measure
        for measure in pytrec_eval.supported_measures
        if not any(re.fullmatch(rf"{re.escape(measure)}([_.][\d.,-]+)?", text) for text in listed)
    }
    assert missing - NOT_NUMBERS == {"G"}


# Links and examples


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Every link of a page to a file or a heading finds it."""
    for target in links(page):
        name, _, heading = target.partition("#")
        there = page.parent / name if name else page
        assert there.exists(), f"{page.name}: {target}"
        assert not heading or heading in anchors(there), f"{page.name}: {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_places_exist(page: Path) -> None:
    """Every file and folder of the project that a page names is there, below the root or the package."""
    text = re.sub(r"^\|.*https://.*$", "", read(page), flags=re.MULTILINE)  # other projects' files
    named = re.findall(r"`([\w./]+\.(?:py|md)|[a-z_/]+/)`", text)
    lost = [name for name in named if not any((place / name).exists() for place in (ROOT, PACKAGE, PACKAGE.parent))]
    assert not lost, f"{page.name}: {lost}"


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "docs/concepts.md",
        "docs/decisions.md",
        "docs/conventions.md",
        "docs/errors.md",
        "docs/metrics/index.md",
    ],
)
def test_page_has_examples(name: str) -> None:
    """The pages for users have examples that run as tests."""
    assert doctest.DocTestParser().get_examples(read(ROOT / name))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_for_a_prompt_has_one(page: Path) -> None:
    """Python code on a page runs as a test, compiles where tests lack its library, or is the package's own source."""
    sources = [inspect.getsource(one) for one in (metrics.rr.kernel, queries_without_results.look)]
    for block in re.findall(r"^```python\n(.*?)^```", read(page), flags=re.MULTILINE | re.DOTALL):
        if re.match(r"(from|import) (dagster|matplotlib|mlflow|plotly|pyspark)\b", block):
            compile(block, page.name, "exec")
        else:
            assert block.startswith(">>> ") or block in sources


@pytest.mark.parametrize("page", UNDERSTAND, ids=lambda page: page.stem)
def test_a_page_to_understand_is_short_and_opens_with_an_example(page: Path) -> None:
    """It says what it answers in a few lines, shows it, and has at most 2,000 words."""
    text = read(page)
    assert len(text.split()) <= 2000
    assert len(text.partition("```python\n>>> ")[0].split()) <= 120


@pytest.mark.parametrize("page", UNDERSTAND, ids=lambda page: page.stem)
def test_code_to_understand_is_for_pandas_too(page: Path) -> None:
    """Only the import differs; where polars alone has a call, a comment has that of pandas, once a page for filters."""
    code = [line for line in read(page).splitlines() if line.startswith((">>> ", "... "))]
    alone = r"\.(select|with_columns|drop_nulls|rows|join)\(|\bpl\.(?!DataFrame\b|concat\b)"
    assert [line for line in code if re.search(alone, line) and "# pandas: " not in line] == []
    filters = [line for line in code if ".filter(" in line]
    assert not filters or any("# pandas: " in line for line in filters)


def test_pages_to_start_and_to_understand_are_few_words() -> None:
    """Somebody can read all of them in an afternoon."""
    assert sum(len(read(page).split()) for page in [DOCS / "index.md", *UNDERSTAND]) <= 20_000


def test_every_verb_stands_on_a_page() -> None:
    """A page for users calls each verb, beside what is generated and told of its past."""
    verbs = [
        name for name, method in vars(frame_metrics.IRM).items() if hasattr(method, "__wrapped__") and name[0] != "_"
    ]
    inside = ("changelog.md", "design.md", "contributing.md")
    told = "".join(read(page) for page in PAGES if page.name not in inside and page.parent.name != "metrics")
    assert len(verbs) > 10
    assert [verb for verb in verbs if f".{verb}(" not in told] == []


def test_what_to_cite_is_the_package() -> None:
    """The version and the licence are those of pyproject.toml; a release has its date, and the place of its code."""
    project = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]
    citation = read(ROOT / "CITATION.cff")
    cited = dict(re.findall(r"^(version|license): (\S+)", citation, flags=re.MULTILINE))
    assert cited == {"version": project["version"], "license": project["license"]}
    newest = re.findall(r"^## (.*)$", read(DOCS / "changelog.md"), flags=re.MULTILINE)[0]
    assert newest.startswith(project["version"])
    of_release = re.findall("^(date-released|repository-code): ", citation, flags=re.MULTILINE)
    assert len(of_release) == (0 if newest.endswith("(not released)") else 2)
    assert not [path for path in PACKAGE.rglob("*.py") if project["version"] in read(path)]


# Tabs


def alone(page: Path, library: str) -> str:
    """A page as the reader of one library sees it, without the blocks of the other one's tabs."""
    other = {"pandas": "polars", "polars": "pandas"}[library]
    return re.sub(rf"^\*\*{other}\*\*\n\n```python\n.*?^```\n", "", read(page), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("page", [page for page in PAGES if "\n**pandas**\n" in read(page)], ids=lambda page: page.stem)
def test_tabs_of_one_library_are_enough(page: Path, library: str) -> None:
    """A page with tabs says the same to readers of either library, who read one tab of each pair."""
    examples = doctest.DocTestParser().get_doctest(alone(page, library), {}, page.stem, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS, verbose=False)
    printed: list[str] = []
    runner.run(examples, out=printed.append)
    assert not runner.failures, "".join(printed)


# Terms of the literature

MEANS_TWO = ("power", "Fowlkes-Mallows index", "click-through rate")
TERMS = [(term, name) for name, listed in literature.terms().items() for term in listed]


@pytest.mark.parametrize("term", dict.fromkeys(re.sub(r" \(.*\)$", "", term) for term, _ in TERMS))
def test_a_term_of_the_literature_stands_in_its_entry(term: str) -> None:
    """A search for it finds the entries that docs/terms.txt names; it is read as one of these, unless it means two."""
    named = {name for one, name in TERMS if one.partition(" (")[0] == term}
    for name in named:
        said = re.findall(r"^- Also (?:read|called): (.*)$", entries()[name], flags=re.MULTILINE)
        words = {
            re.sub("[-_ ]", "", word.split(" (")[0].strip("`").lower())
            for word in f"{name}, {', '.join(said)}".split(", ")
        }
        assert re.sub("[-_ ]", "", term.lower()) in words
    if term in MEANS_TWO:
        with pytest.raises(frame_metrics.UnknownNameError, match=f"'{term}' means two things: "):
            read_text(term)
    elif any(one == term for one, _ in TERMS):
        assert read_text(term)[0][1].name in named
