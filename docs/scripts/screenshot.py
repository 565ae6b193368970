"""Photograph a report for the README, light and dark, by Chromium.

python examples/search_the_docs.py --report report.html && python docs/scripts/screenshot.py report.html
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

PICTURES = Path(__file__).parents[1] / "pictures"


def main(page: Path) -> None:
    from playwright.sync_api import sync_playwright  # which nobody else needs

    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            tab = browser.new_page(viewport={"width": 820, "height": 1150}, color_scheme=scheme)
            tab.goto(page.resolve().as_uri())
            tab.screenshot(path=PICTURES / f"report_{scheme}.png")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
