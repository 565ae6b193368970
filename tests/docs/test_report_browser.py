"""The report in a browser: no message, no request, tables sort, it prints, and axe finds nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from helpers import ROOT, script

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SCREENS = {"light desktop": ("light", 1280), "dark phone": ("dark", 390)}  # colours and widths do not meet in any rule

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of what the example searches, of some queries of each library."""
    example = script(ROOT / "examples" / "search_the_docs.py")
    documents, names = example.collect([pl])
    judgments = example.grade(documents, names)
    queries = [query for part in judgments.partition_by("library") for query in part["query"].unique().sort()[:3]]
    kept = judgments.filter(pl.col("query").is_in(queries))
    log = example.search(documents, queries, limit=3)
    folder = tmp_path_factory.mktemp("report")
    log.write_parquet(folder / "log.parquet")
    kept.write_parquet(folder / "judgments.parquet")
    example.report(folder, folder / "report.html")
    return Path(folder / "report.html")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: --group dev")
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed: apt-get install chromium")
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def opened(browser: Any, report: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    """The page, in which a message, an error or a request fails the test."""
    options = getattr(request, "param", {})
    said: list[str] = []
    context = browser.new_context(**options)
    page = context.new_page()
    page.on("console", lambda message: said.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: said.append(f"error: {error}"))
    page.on("request", lambda asked: said.append(f"request: {asked.url}") if asked.url != report.as_uri() else None)
    page.goto(report.as_uri())
    yield page
    context.close()
    assert [one for one in said if not one.startswith("request: data:")] == []


def column(page: Any, at: int) -> list[str]:
    """The texts of a column of the first table."""
    cells = page.locator("table").first.locator(f"tbody tr > :nth-child({at + 1})").all()
    return [cell.evaluate("cell => cell.firstChild.textContent.trim()") for cell in cells]


@pytest.mark.parametrize(
    "opened",
    [{"color_scheme": scheme, "viewport": {"width": width, "height": 900}} for scheme, width in SCREENS.values()],
    indirect=True,
    ids=SCREENS,
)
def test_axe_finds_nothing(opened: Any) -> None:
    """No rule of axe-core is broken, whether folds are open or closed, and the page is no wider than the screen."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for _ in range(2):
        found = axe.run(opened)
        assert found.response["violations"] == [], found.generate_report()
        opened.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert opened.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_tables_sort_by_mouse_and_by_keyboard(opened: Any) -> None:
    """A click on the head of a column sorts by its numbers, another the other way; Enter does what a click does."""
    heads = opened.locator("table").first.locator("thead th")
    before = column(opened, 0)
    heads.nth(1).locator("button").click()
    rising = [float(text) for text in column(opened, 1)]
    assert heads.nth(1).get_attribute("aria-sort") == "ascending"
    assert rising == sorted(rising)
    heads.nth(1).locator("button").click()
    assert [float(text) for text in column(opened, 1)] == rising[::-1]
    assert heads.nth(1).get_attribute("aria-sort") == "descending"
    heads.nth(0).locator("button").focus()
    opened.keyboard.press("Enter")
    assert column(opened, 0) == sorted(before)
    assert heads.nth(1).get_attribute("aria-sort") is None
    assert opened.evaluate("document.activeElement.textContent") == "system"


@pytest.mark.parametrize("opened", [{"java_script_enabled": False}], indirect=True, ids=["no script"])
def test_it_is_read_without_script(opened: Any) -> None:
    """Without script everything is there but the buttons; a fold opens."""
    assert opened.locator("button").count() == 0
    assert opened.locator("h2").count() >= 6
    opened.locator("summary", has_text="Notes and counts").click()
    assert opened.locator("details[open] table").first.is_visible()


def test_it_prints_what_is_open(opened: Any) -> None:
    """On paper the open tables are shown, and folds that a reader opened; other folds and links to sections are not."""
    opened.locator("summary", has_text="Notes and counts").click()
    opened.emulate_media(media="print")
    assert opened.locator("table").first.is_visible()
    assert opened.locator("details[open] table").first.is_visible()
    assert not opened.locator("summary", has_text="Conventions and versions").is_visible()
    assert not opened.locator("nav").is_visible()
    assert len(opened.pdf(format="A4")) > 20_000
    opened.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    opened.set_viewport_size({"width": 688, "height": 900})  # A4 within its margins
    assert opened.evaluate("document.documentElement.scrollWidth") == 688
