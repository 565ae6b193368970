"""The lines that write files of TREC, for calls that mean them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from frame_metrics.command.files.columns_there import columns_in
from frame_metrics.command.front import PROGRAM
from frame_metrics.command.offers.named_metrics import with_before
from frame_metrics.command.offers.other_options import RETIRED
from frame_metrics.command.offers.our_flags import first_file, values_of
from frame_metrics.errors import listed
from frame_metrics.roles.columns import ROLES

OF_TREC = ("query", "doc", "score", "grade")  # the roles of files of TREC
TREC, ENDS = ("run", "qrels"), ("", "-out", "-file", "-output")  # the flags of files of TREC, as --run-out


def in_trec(arguments: Sequence[str]) -> str:
    """Return the error about a format of TREC for --to, with the commands that write a run and judgments.

    It is "" for another format; without --to the ending of the file to write says it.
    """
    values = values_of(arguments)
    given = values.get("--output") or values.get("-o") or "out"
    ending = os.path.splitext(given)[1][1:]
    asked, file = values.get("--to", values.get("--format", ending)).lower(), first_file(["", *arguments])
    if asked not in ("trec", "run", "qrels") or not file:
        return ""
    there = [*columns_in(file)]
    columns = {role: values.get(f"--{role}") or _column_of(role, there) for role in OF_TREC}
    queries = [one for one, flag in with_before(arguments) if flag == "--query"][:-1]  # and the last in columns
    names = [next((values[f"--{one}{end}"] for end in ENDS if f"--{one}{end}" in values), "") for one in TREC]
    run, qrels = names[0] or given * (asked != "qrels"), names[1] or given * (asked == "qrels")
    stem = os.path.basename(run).partition(".")[0].replace("run", "")  # a column may be called run
    name = values.get("--run-name") or ("" if "run" in there else stem or "system")
    lines = [(run, ".run", "score", ["--run-name", name] if name else []), (qrels, ".qrels", "grade", [])]
    commands, missing = list[list[str]](), dict[str, str]()
    for to, ending, role, further in (one for one in lines if one[0]):
        its = ("query", "doc", role)
        flags = [word for one in queries for word in ("--query", one)]
        flags += [word for one in its if columns[one] not in ("", one) for word in (f"--{one}", columns[one])]
        commands.append([PROGRAM, "convert", file, "-o", os.path.splitext(to)[0] + ending, *flags, *further])
        missing |= {one: f"--{one}" for one in its if there and not columns[one]}
    problem = f"--to {asked}: runs and judgments of TREC are written to files that end with .run and .qrels"
    known = {"--to", "--format", "--output", "-o", "--run-name", *(f"--{one}{end}" for one in TREC for end in ENDS)}
    known |= {f"--{role}" for role in OF_TREC}
    others = [flag for flag in values if flag.startswith("-") and flag not in known]
    told = [f"there is no option {flag}; {RETIRED[flag[2:]].text}" for flag in others if flag[2:] in RETIRED]
    if missing:
        ways = " and ".join(missing.values())
        told.append(f"{listed(there)}: none is called as the {' or the '.join(missing)}; name it with {ways}")
    if missing or others:
        commands = []
    return "\n".join([problem, *told, *map(shlex.join, commands)])


def _column_of(role: str, there: Sequence[str]) -> str:
    """Return the column that likely has a role; ids are rather taken than texts. It is "" if none is."""
    usual = [*ROLES[role].among(there)]
    usual += [one for one in there if role == "score" and one.lower().endswith("score") and one not in usual]
    return next((one for one in usual if role not in there or one.endswith("_id")), role if role in there else "")
