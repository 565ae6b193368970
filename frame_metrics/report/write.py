"""Reports as HTML, Markdown and JSON, and as files."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.backends.display import value_text
from frame_metrics.backends.files import file_name, replacing
from frame_metrics.backends.frames import backend_of
from frame_metrics.backends.tables import Table, in_html, in_markdown, markdown_text
from frame_metrics.errors import (
    BadValueError,
    ColumnError,
    check_choice,
    check_ci,
    check_text,
    check_whole,
    listed,
    quote,
)
from frame_metrics.measuring.split import check_split
from frame_metrics.metrics.names import check_some
from frame_metrics.report.blocks import Block, Code, Group, Linked, Picture, Section
from frame_metrics.report.cells import library, naming_nulls, plain_text
from frame_metrics.report.content import Content
from frame_metrics.report.gathering import gathered
from frame_metrics.report.layout import best_first, sections_of, verdict
from frame_metrics.roles.columns import Columns

VERSION = 1  # of the JSON form; it rises when something has another name or meaning
FORMATS = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md", ".json": "json"}
MOST_ROWS = 2000  # of a table in JSON
LONGEST_IN_JSON = 2000  # letters of a text there
HERE = Path(__file__).parent
# How the command line, which calls irm.report() as others do, words a report: with its files and flags.
REWORDED: ContextVar[Callable[[Content], Content] | None] = ContextVar("REWORDED", default=None)


def report(
    irm: Any,
    plan: Any,
    path: Any,
    *,
    metrics: Any,
    compare_options: Mapping[str, Any],
    format: str | None,
    **options: Any,
) -> str:
    """Implement ``irm.report``, whose docstring has the parameters."""
    name = None if path is None else file_name(path)
    kind = format_of_report(name, format)
    if options["ci"] is not None:
        check_ci(options["ci"])
    check_whole("queries", options["queries"], 0)
    check_text("title", options["title"])
    check_arms(plan.columns, compare_options, options["split"])
    jinja = library("jinja2") if kind == "html" else None
    asked = [] if metrics is None else metrics if isinstance(metrics, list | tuple) else [metrics]
    if metrics is not None:
        check_some(asked)
    content = gathered(irm, plan, asked, compare_options=compare_options, **options)
    if reworded := REWORDED.get():
        content = reworded(content)
    text = in_form(content, kind, jinja)
    if name is None:
        return Page(text) if kind == "html" else text
    return _written(name, text)


def in_form(content: Content, kind: str, jinja: Any = None) -> str:
    """Return a report as "html", "md" or "json"; ``jinja``: Jinja2, for callers that have it already."""
    with naming_nulls(content.system):
        if kind == "html":
            return as_html(content, jinja or library("jinja2"))
        return as_markdown(content) if kind == "md" else as_json(content)


def _written(name: str, text: str) -> str:
    """Write a text to a file, completely or not at all, and return its name."""
    with replacing(name) as file:
        file.write(text.encode("utf-8", "backslashreplace"))
    return name


class Page(str):
    """A page of HTML, which a notebook shows."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        frame = "width: 100%; height: 45rem; border: 1px solid #8888"
        return f'<iframe title="Report" srcdoc="{html.escape(self)}" style="{frame}"></iframe>'

    def save(self, path: Any) -> str:
        """Write the page into a file, and return its name."""
        return _written(file_name(path), self)


def check_arms(columns: Columns, compare_options: Mapping[str, Any], split: Any) -> None:
    """Raise for options that only arms have, if there are none."""
    if split is not None:
        check_split(split, columns)
    for name in ("covariate", "strata"):
        if name in compare_options and columns.arm is None:
            raise BadValueError(
                f"{name}={quote(compare_options[name])} requires arms with queries of their own; name their column "
                f"with arm={f' in the place of system={columns.system!r}' if columns.systems_have_rows else ''}"
            )


def summary(
    irm: Any, plan: Any, metrics: Sequence[Any], compare_options: Mapping[str, Any], ci: float, split: Any
) -> Any:
    """Implement ``irm.summary``, whose docstring has the parameters."""
    check_ci(ci)
    check_arms(plan.columns, compare_options, split)
    content = gathered(
        irm, plan, metrics, compare_options=compare_options, title=None, ci=ci, queries=None, split=split
    )
    columns, system = content.summary.to_dict(), content.system
    if system in columns and system != "system":
        raise ColumnError(f"{system}: summary() has a column of this name; rename it in the frame")
    named = {str(system) if name == "system" else name: values for name, values in columns.items()}
    nested = [name for name in (system, "baseline") if system and name in named and named[name].dtype != pl.String]
    answer = Answer({}, named, classes={name: [str(system)] for name in nested}).of_rows(pl.DataFrame(), None)
    found = backend_of(irm.frame).to_native(answer)
    return found.lazy() if isinstance(irm.frame, pl.LazyFrame) else found


def format_of_report(name: str | None, given: str | None, place: str = "") -> str:
    """Return the format that is given, or else that of the file's ending; raise for a folder that does not exist.

    ``place``: the words for the file in errors; "" for "path=".
    """
    if given is not None:
        check_choice("format", given, [*dict.fromkeys(FORMATS.values())])
    if name is None:
        return given or "html"
    folder, end, place = os.path.dirname(name), os.path.splitext(name)[1].lower(), place or f"path={name!r}"
    if folder and not os.path.isdir(folder):
        raise BadValueError(f"{place}: there is no folder {folder!r}")
    if given is None and end not in FORMATS:
        raise BadValueError(f"{place} does not end in one of {listed(FORMATS)}; rename it, or pass format='html'")
    return given or FORMATS[end]


def _made(content: Content) -> str:
    """Return the line with the time and the kind of the frame."""
    day = content.basis.created.strftime("%Y-%m-%d %H:%M UTC")
    return f"{day}, from a {content.basis.kind}."


def as_html(content: Content, jinja: Any) -> str:
    """Return a report as one HTML page, which needs no other file."""
    from frame_metrics.report.pictures import drawn  # which needs Altair, as other formats do not

    style, script = ((HERE / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    content = best_first(content)
    # No script in the data can run: only this one may.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    verdict_text, gravest = verdict(content)
    environment = jinja.Environment(
        autoescape=True,
        keep_trailing_newline=True,
        loader=jinja.FileSystemLoader(HERE),
        undefined=jinja.StrictUndefined,
    )
    return str(
        environment.get_template("page.html.j2").render(
            title=plain_text(content.title),
            made=_made(content),
            verdict=verdict_text,
            gravest=gravest,
            sections=sections_of(content, drawn(content)),
            version=content.basis.versions["frame_metrics"],
            style=style,
            script=script,
            in_html=in_html,
            unbroken=unbroken,
            script_hash=digest,
        )
    )


def unbroken(text: str) -> str:
    """Return a sentence in which a line does not end before "%", or within "p < 0.001"."""
    return re.sub(r"(?<=\d) (?=%)|(?<=\bp) (?=[<=] )|(?<=\bp [<=]) (?=\d)", "\u00a0", text)


def as_markdown(content: Content) -> str:
    """Return a report as Markdown; its tables have the numbers of the pictures, which are left out."""
    content = best_first(content)
    finding, _ = verdict(content)
    head = [f"# {markdown_text(plain_text(content.title))}", f"{markdown_text(plain_text(_made(content)))} {finding}"]
    sections = [_section(section) for section in sections_of(content, {})]
    return "\n\n".join([*head, *sections]) + "\n"


def _section(section: Section) -> str:
    blocks = [*map(_block, section.blocks)]
    if section.folded:
        blocks = ["<details><summary>Show</summary>", *blocks, "</details>"]
    return "\n\n".join([f"## {section.title}", *filter(None, blocks)])


def _block(block: Block) -> str:
    """Return a block as Markdown."""
    if isinstance(block, str):
        return markdown_text(block)
    if isinstance(block, Table):
        return in_markdown(block)
    if isinstance(block, Picture):
        return ""
    if isinstance(block, Linked):
        return f"{markdown_text(block.text)}{markdown_text(block.link)}."
    if isinstance(block, Code):
        fence = "`" * (1 + max(map(len, re.findall("`+", block.code)), default=0))
        return f"{markdown_text(block.text)} {fence}{block.code}{fence}"
    if isinstance(block, Group):
        return "\n\n".join([f"### {markdown_text(block.title)}", *map(_block, block.blocks)])
    inner = "\n\n".join(_block(_unnamed(one, block.summary.text)) for one in block.blocks)
    summary = html.escape(f"{block.summary.subtext} {block.summary.text}".strip())
    return f"<details><summary>{summary}</summary>\n\n{inner}\n\n</details>"


def _unnamed(block: Block, name: str) -> Block:
    """Return a table without its caption, if that is the name of the fold that it stands in."""
    return replace(block, caption="") if isinstance(block, Table) and block.caption == name else block


def as_json(content: Content) -> str:
    """Return the content of a report as JSON; docs/report-schema.json describes it."""
    return json.dumps(_data(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _data(content: Content) -> dict[str, Any]:
    return {
        "version": VERSION,
        "title": content.title,
        "created": content.basis.created.isoformat(),
        "frame": content.basis.kind,
        "keys": {**_sides(content), "by": [*content.by], "query": [*content.query]},
        "ci": content.ci,
        "metrics": content.directions,
        "roles": content.basis.roles,
        "conventions": content.basis.conventions,
        "versions": content.basis.versions,
        "tables": {name: _rows(table, content) for name, table in _tables(content).items() if table is not None},
        "queries": [
            {
                "system": _plain(one.system),
                "place": one.kind,
                "keys": _plain(one.keys),
                "metric": content.first,
                "value": one.value,
                "explained": one.explained or None,
                "results": None if one.results is None else _rows(one.results, content)["rows"],
                "more": one.more,
            }
            for one in content.queries.extremes
        ],
        "absent": content.absent_sections,
    }


def _tables(content: Content) -> dict[str, pl.DataFrame | None]:
    """Return all tables by their names; None for those that the report does not have."""
    compared, decisions = content.compared, content.decisions
    tables = {
        "summary": content.summary,
        "results": content.results,
        "segments": content.segments,
        "segments_compared": compared.in_segments,
        "confusion": decisions.confusion,
        "classes": decisions.classes,
        "classes_compared": compared.in_classes,
        "best_threshold": decisions.best_threshold,
        "comparison": compared.differences,
        "quantiles": content.queries.quantiles,
        "leaderboard": compared.leaderboard,
        "audit": content.audit.drop("unit"),  # as the verb returns it
    }
    return tables | {f"curve_{name}": curve for name, curve in content.curves.items()}


def _sides(content: Content) -> dict[str, str | None]:
    """Return the columns of systems and of arms; a report has one of them, or none."""
    return {"system": None, "arm": None} | {"arm" if content.arms else "system": content.system}


def _rows(table: pl.DataFrame, content: Content) -> dict[str, Any]:
    """Return the rows of a table and the number of rows left out; if there are too many, the best systems stay."""
    first = content.foremost_rows(table, MOST_ROWS)
    return {"rows": [_plain(row) for row in first.iter_rows(named=True)], "left_out": len(table) - len(first)}


def _plain(value: Any) -> Any:
    """Return a value in a type of JSON: NaN and infinite numbers become null, and values of unknown types text."""
    if isinstance(value, Mapping) and value_text(value) == str(value):  # no interval and no period of pandas
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int):
        return value
    text = value_text(value)
    return text if len(text) <= LONGEST_IN_JSON else f"{text[:LONGEST_IN_JSON]}…"
