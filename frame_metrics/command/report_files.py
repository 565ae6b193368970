"""A report, written to files or printed, in the words of the command line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from frame_metrics.command.commands import options_of
from frame_metrics.command.files import writing
from frame_metrics.command.frames import Frames
from frame_metrics.command.front import quiet_pipe
from frame_metrics.command.texts import column_with_flags, say_at_terminal, with_flags
from frame_metrics.command.verb_options import options_of_verb
from frame_metrics.errors import listed

MOST_FILES = 5  # the most file names that a report shows


def write_report(frames: Frames) -> None:
    """Write a report to files, or print it."""
    call, texts = frames.call, _texts(frames)
    frames.check_unchanged()
    for name, form in call.outputs.items():
        data = texts[form].encode("utf-8", "backslashreplace")
        if name is not None:
            writing.put_in(name, data)
            if "output" in call.set_options:
                say_at_terminal(f"the report is in {name}")
            continue
        with quiet_pipe():
            writing.put(data)


def check_report(frames: Frames) -> None:
    """Raise if columns that a report reads are missing, or their values are wrong; nothing is computed."""
    from frame_metrics.report.gathering import planned_call

    planned_call(frames.against()._plan, frames.call.metrics, None)
    frames.refuse_mixed_systems()


def _texts(frames: Frames) -> dict[str, str]:
    """Return the report in each format that is asked for; it is computed once."""
    from frame_metrics.report.write import REWORDED, in_form  # which take a while, and other commands do without

    contents: list[Any] = []

    def reworded(content: Any) -> Any:
        contents.append(_reworded(frames, content))
        return contents[-1]

    first, *others = dict.fromkeys(frames.call.outputs.values())
    options = options_of_verb(frames) | {"metrics": frames.call.metrics or None, "format": first}
    with frames.baseline() as baseline:
        frames.refuse_mixed_systems()
        frames.stack.callback(REWORDED.reset, REWORDED.set(reworded))
        texts = {first: frames.against().report(**options, **baseline)}
    return texts | {form: in_form(contents[-1], form) for form in others}


def _reworded(frames: Frames, content: Any) -> Any:
    """Return the content of a report that names the files, with flags in place of options of Python."""
    files, options = frames.names, options_of(frames.call.name)
    absent = [{**one, "reason": with_flags(one["reason"], options)} for one in content.absent_sections]
    summary = content.summary
    sentences = [
        with_flags(text, options) if kind == "absent" else text
        for kind, text in summary.select("kind", "sentence").iter_rows()
    ]
    summary = summary.with_columns(sentence=pl.Series(sentences, dtype=pl.String))
    more = f" and {len(files) - MOST_FILES} more" if len(files) > MOST_FILES else ""
    kind, audit = f"log in {listed(files[:MOST_FILES])}{more}", column_with_flags(content.audit, options)
    return replace(
        content, basis=replace(content.basis, kind=kind), audit=audit, absent_sections=absent, summary=summary
    )
