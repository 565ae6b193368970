"""Look at a built site with Chromium, as wide as a small laptop: no block scrolls, and what is copied compiles."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WIDTH = 1280
# All tabs one after the other, since what is hidden has no width; a button copies through a text area that it adds.
BLOCKS = r"""() => {
    const copied = [];
    document.execCommand = () => copied.push([...document.querySelectorAll("body > textarea")].at(-1).value);
    const found = new Map();
    const sets = [...document.querySelectorAll(".tabbed-set")];
    const most = Math.max(1, ...sets.map((set) => set.querySelectorAll(":scope > input").length));
    for (let i = 0; i < most; i++) {
        sets.forEach((set) => { const tab = set.querySelectorAll(":scope > input")[i]; if (tab) tab.checked = true; });
        for (const code of document.querySelectorAll(":not(.doc-signature) > pre > code")) {
            if (code.clientWidth && !found.has(code)) found.set(code, code.scrollWidth - code.clientWidth);
        }
    }
    return [...found].map(([code, over]) => {
        const button = code.parentElement.querySelector("button[data-clipboard-target]");
        copied.length = 0;
        if (button) button.click();
        const language = (code.closest(".highlight")?.className.match(/language-(\w+)/) ?? [])[1];
        return { over, language, copied: copied[0] ?? null, text: code.innerText.split("\n")[0] };
    });
}"""


def looked(out: Path) -> Iterator[str]:
    """Yield what is wrong with the blocks of code of a site, and print how many there are."""
    from playwright.sync_api import sync_playwright  # which only this needs

    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    n_blocks = 0
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": WIDTH, "height": 900})
        for path in sorted(out.rglob("*.html")):
            tab.goto(path.as_uri())
            blocks = tab.evaluate(BLOCKS)
            n_blocks += len(blocks)
            yield from (f"{path.relative_to(out)}: {said}" for block in blocks for said in of_block(block))
        browser.close()
    print(f"{n_blocks} blocks of code seen at {WIDTH} px")


def of_block(block: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with one block."""
    name = repr(block["text"][:60])
    if block["over"] > 0:
        yield f"{name} is {block['over']} px wider than its column"
    if block["copied"] is None:
        yield f"{name} cannot be copied"
    elif block["language"] in ("python", "pycon"):
        try:
            compile(block["copied"], "copied", "exec")
        except SyntaxError as error:
            yield f"{name} does not run when it is copied: {error}"
    elif block["copied"].startswith("$ "):
        yield f"{name} is copied with its prompt"
