"""Write docs/metrics/, goals of which_measure.md, roles of conventions.md, imports, drawings, figures of the bench.

python docs/scripts/generate.py [--check]      with --check, write nothing and exit with 1 if either is out of date
"""

from __future__ import annotations

import ast
import doctest
import hashlib
import json
import re
import sys
import textwrap
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

from code_blocks import WIDTH
from drawing import drawing
from figures import ANY_MARK, filled, measured
from frame_metrics import plot
from frame_metrics.metrics.goals import ADVICE
from frame_metrics.metrics.names import read_text
from frame_metrics.plot.charts import for_phones
from frame_metrics.report.pictures import WIDEST
from front import front
from metric_pages import pages, place
from role_table import role_table
from sentence_table import sentence_table

DOCS = Path(__file__).parents[1]
METRICS = DOCS / "metrics"
README = DOCS.parent / "README.md"
CONTRIBUTING = DOCS / "contributing.md"
PICTURES = DOCS / "pictures.md"
HOUSE_TEST = DOCS.parent / "tests" / "docs" / "test_house.py"
WHICH = DOCS / "which_measure.md"
DRAWING = DOCS / "architecture.svg"
FRONT = DOCS / "pictures" / "front.svg"
CONVENTIONS = DOCS / "conventions.md"
REPORT = DOCS / "report.md"
ROLES = re.compile("(?<=<!-- roles -->\n).*?(?=<!-- /roles -->)", re.DOTALL)
SENTENCES = re.compile("(?<=<!-- sentences -->\n).*?(?=<!-- /sentences -->)", re.DOTALL)
GOALS = re.compile("(?<=<!-- goals -->\n).*?(?=<!-- /goals -->)", re.DOTALL)
HOUSE = re.compile("(?<=<!-- house -->\n).*?(?=<!-- /house -->)", re.DOTALL)


def main(arguments: list[str]) -> int:
    wanted = {METRICS / name: text for name, text in pages().items()}
    wanted[CONTRIBUTING] = HOUSE.sub(lambda _: house(), CONTRIBUTING.read_text(encoding="utf-8"))
    wanted[DRAWING] = drawing(of_house("HOUSE"), of_house("NO_FRAMES"))
    wanted[FRONT] = front()
    wanted[CONVENTIONS] = ROLES.sub(lambda _: role_table(), CONVENTIONS.read_text(encoding="utf-8"))
    wanted[REPORT] = SENTENCES.sub(lambda _: sentence_table(), REPORT.read_text(encoding="utf-8"))
    wanted[WHICH] = GOALS.sub(lambda _: goals(), WHICH.read_text(encoding="utf-8"))
    rows = measured()
    for path in (README, *sorted(DOCS.rglob("*.md"))):
        text = wanted.get(path) or path.read_text(encoding="utf-8")
        if ANY_MARK.search(text):
            wanted[path] = filled(text, rows)
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(f"{path.name} is out of date" if "--check" in arguments else f"{path.name} written")
        if "--check" not in arguments:
            path.parent.mkdir(exist_ok=True)
            path.write_text(wanted[path], encoding="utf-8")
    old = False
    for name, chart in each_picture():
        if is_old(picture_of(name), chart):
            old = True
            print(f"{name}.svg is out of date" if "--check" in arguments else f"{name}.svg written")
            if "--check" not in arguments:
                picture_of(name).write_text(f"{plot.svg(chart)}\n{said_of(chart)}\n", encoding="utf-8")
    return int("--check" in arguments and (bool(stale) or old))


def each_picture() -> Iterator[tuple[str, Any]]:
    """The charts of pictures.md, each that is too wide for a phone drawn once more, as reports do."""
    for name, chart in charts().items():
        yield name, chart
        width = re.search(r'<svg[^>]* width="([\d.]+)"', picture_of(name).read_text(encoding="utf-8"))
        if width and float(width[1]) > WIDEST:
            yield f"{name}_narrow", for_phones(chart)


@cache
def charts() -> dict[str, Any]:
    """The charts that the examples of pictures.md make, by the name of the file that shows them."""
    text, made = PICTURES.read_text(encoding="utf-8"), {}
    with redirect_stdout(StringIO()):
        for example in doctest.DocTestParser().get_examples(text):
            exec(example.source, made)
    return {name: made[name] for name in re.findall(r"\]\(pictures/(\w+)\.svg\)", text)}


def picture_of(name: str) -> Path:
    return PICTURES.parent / "pictures" / f"{name}.svg"


def is_old(path: Path, chart: Any) -> bool:
    """Return True for a picture that is not there, or was made from another specification.

    The bytes of an SVG depend on the version of vl-convert and the fonts of the machine. So they are not compared.
    """
    return not path.exists() or said_of(chart) not in path.read_text(encoding="utf-8")


def said_of(chart: Any) -> str:
    """The end of a picture, which says what it was made from: numbers have nine digits, versions are left out."""
    own = {name: value for name, value in chart.to_dict(validate=False).items() if name not in ("$schema", "config")}
    rounded = json.loads(json.dumps(own), parse_float=lambda number: f"{float(number):.9g}")
    return f"<!-- {hashlib.sha256(json.dumps(rounded, sort_keys=True).encode()).hexdigest()[:32]} -->"


def house() -> str:
    """The dictionary of imports, as the test has it, in lines that fit a block."""
    rooms = (f"{room}: {', '.join(sorted(below)) or 'nothing'}" for room, below in of_house("HOUSE").items())
    lines = "\n".join(textwrap.fill(room, WIDTH, subsequent_indent="    ") for room in rooms)
    return f"```text\n{lines}\n```\n"


def of_house(name: str) -> Any:
    """Value of a constant of the test of the house."""
    lines = ast.parse(HOUSE_TEST.read_text(encoding="utf-8")).body
    set_here = (one for one in lines if isinstance(one, ast.Assign | ast.AnnAssign))
    return next(ast.literal_eval(one.value) for one in set_here if one.value and ast.unparse(one).startswith(name))


def goals() -> str:
    """Table of the metrics that serve each goal, with links to their entries."""
    lines = ["| goal | metric | says | hides |", "|---|---|---|---|"]
    for i, (goal, metric, says, hides) in enumerate(ADVICE):
        named = "" if i and ADVICE[i - 1].goal == goal else goal
        lines.append(f"| {named} | [{metric}]({place(read_text(metric)[0][1])}) | {says} | {hides} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
