"""Blocks of code as the site shows and copies them: lines that fit their column, and only what a reader would run.

The pages of the repository keep their lines. The site breaks a long line of input between arguments, and a long message
between words; what it makes of an input is the same program. A block with prompts is copied without them and without
its output: the copy stands in the attribute that the theme's button looks for.
"""

from __future__ import annotations

import ast
import doctest
import re
import textwrap
from collections.abc import Iterator
from html import escape, unescape
from itertools import accumulate, pairwise

WIDTH = 88
SESSION = re.compile(r"^```python\n(?=>>> )(.*?)^```$", re.MULTILINE | re.DOTALL)
SCRIPT = re.compile(r"^```python\n(?!>>> )(.*?)^```$", re.MULTILINE | re.DOTALL)
SHELL = re.compile(r"^(```sh\b.*\n)(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"^```(\w+) ([\w.]+)$", re.MULTILINE)
CONSOLE = re.compile(r"^(```console\n)(.*?)^```$", re.MULTILINE | re.DOTALL)
BUILT = re.compile(r'(<div class="(?:[^"]* )?highlight"[^>]*)>(<pre.*?</pre>)', re.DOTALL)
DIRECTIVE = re.compile(r" *# doctest: .*")
STRING = re.compile(r"""('''|\"\"\"|'|")(?:\\.|(?!\1).)*\1""", re.DOTALL)
CLOSED = {"(": ")", "[": "]", "{": "}"}
PROMPTS = ((">>> ", "... "), ("$ ", "> "))


def with_narrow_blocks(text: str) -> str:
    """Return a page with lines that fit in its blocks; those with prompts are sessions of Python."""
    text = SESSION.sub(lambda block: f"```pycon\n{fitted(block[1])}```", text)
    text = SCRIPT.sub(lambda block: f"```python\n{statements(block[1])}```", text)
    for fence, fit in ((SHELL, command), (CONSOLE, console)):
        text = fence.sub(lambda block, fit=fit: f"{block[1]}{''.join(map(fit, block[2].splitlines(True)))}```", text)
    return NAMED.sub(r'```\1 title="\2"', text)


def statements(script: str) -> str:
    """Return a script with its long statements in several lines."""
    lines = script.splitlines(keepends=True)
    ends = [0, *(one.end_lineno or 0 for one in ast.parse(script).body), len(lines)]
    return "".join(broken("".join(lines[begin:end])) for begin, end in pairwise(ends))


def command(line: str) -> str:
    """Return a command of a shell with its comment above it, and its later options in lines of their own."""
    code, comment = re.findall(r"(.*?)((?: +# .*)?)\n", line)[0]
    if len(line) <= WIDTH or not code:
        return line
    above = f"{comment.strip()}\n" if comment else ""
    first, *others = re.split(r" (?=--?\w)(?=(?:[^'\"]|'[^']*'|\"[^\"]*\")*$)", code)
    lines = [first]
    for option in others:
        if len(lines[-1]) + len(option) + 3 <= WIDTH:
            lines[-1] += f" {option}"
        else:
            lines.append(f"{'> ' * line.startswith('$ ')}    {option}")
    return above + " \\\n".join(lines) + "\n"


def console(line: str) -> str:
    """Return a line of a session of a shell, a command or a message, in several lines."""
    return command(line) if line.startswith("$ ") else "".join(said(line))


def fitted(session: str) -> str:
    """Return a session with its long inputs and messages in several lines."""
    parts = doctest.DocTestParser().parse(session)
    return "".join(part if isinstance(part, str) else shown(part) for part in parts)


def shown(example: doctest.Example) -> str:
    """Return an example with its prompts and what it prints."""
    lines, prompt = [], ">>> "
    for line in broken(DIRECTIVE.sub("", example.source)).rstrip("\n").split("\n"):
        lines.append(f"{prompt}{line}".rstrip())
        prompt = ">>> " if prompt == ">>> " and line.startswith("#") else "... "
    return "\n".join(lines) + "\n" + "".join(said(example.want))


def said(want: str) -> Iterator[str]:
    """Yield the lines of an output; those of a message are broken between words, those of a table stay."""
    for line in want.splitlines(keepends=True):
        is_table = "  " in line.strip()
        yield line if len(line) <= WIDTH or is_table else textwrap.fill(line, WIDTH, break_long_words=False) + "\n"


def broken(source: str) -> str:
    """Return a program whose long lines are broken; where that would change what it does, as it was."""
    lines = source.removesuffix("\n").split("\n")
    if max(map(len, lines)) <= WIDTH - 4:
        return source
    masked = [masks(line) for line in lines]
    depths = [0, *accumulate(sum((c in CLOSED) - (c in CLOSED.values()) for c in line) for line in masked)]
    made = "\n".join(part for line, depth in zip(lines, depths, strict=False) for part in broken_line(line, depth > 0))
    try:
        return f"{made}\n" if ast.dump(ast.parse(made)) == ast.dump(ast.parse(source)) else source
    except SyntaxError:
        return source


def masks(line: str) -> str:
    """Return a line without its comment, with its texts blotted out: brackets and commas are those of code."""
    return STRING.sub(lambda text: "x" * len(text[0]), line).partition("#")[0]


def broken_line(line: str, inside: bool) -> list[str]:
    """Break a line: its comment goes above it, what stands inside of brackets fills lines, else brackets open."""
    indent = line[: len(line) - len(line.lstrip())]
    code = line[: len(masks(line))].rstrip()
    if len(line) <= WIDTH - 4:
        return [line]
    if not code.strip():
        return textwrap.wrap(line.strip(), WIDTH - 4, initial_indent=indent, subsequent_indent=f"{indent}# ")
    if code != line.rstrip():
        return [*broken_line(f"{indent}{line[len(masks(line)) :]}", inside), *broken_line(code, inside)]
    items = arguments(code.strip()) if inside else []
    if len(items) > 1:
        return [part for one in filled(items, indent) for part in (broken_line(one, True) if one != line else [one])]
    return opened(code, indent, inside)


def opened(code: str, indent: str, inside: bool) -> list[str]:
    """Put what stands in the last brackets of a line, or in the widest if too much is left, into lines of its own."""
    pairs = [(start, end) for start, end in outermost(masks(code)) if end - start > 2]
    if not pairs:
        return continued(code, indent)
    fitting = pairs[-1][0] < WIDTH - 4 and pairs[-1][1] - pairs[-1][0] > 12
    start, end = pairs[-1] if fitting else max(pairs, key=lambda pair: pair[1] - pair[0])
    while inner := only_brackets(code, start, end):
        start, end = inner
    within = code[start + 1 : end].strip()
    return [
        *broken_line(code[: start + 1], inside),
        *(part for one in filled(arguments(within), f"{indent}    ") for part in broken_line(one, True)),
        *broken_line(f"{indent}{code[end:]}", inside),
    ]


def continued(code: str, indent: str) -> list[str]:
    """Put what follows a bracket that stays open into lines of its own."""
    masked = masks(code)
    for start, end in outermost(masked):
        masked = masked[:start] + "x" * (end + 1 - start) + masked[end + 1 :]
    start = max(map(masked.rfind, CLOSED)) + 1
    return [code[:start], *filled(arguments(code[start:]), f"{indent}    ")] if start else [code]


def only_brackets(code: str, start: int, end: int) -> tuple[int, int] | None:
    """Brackets that end the one argument of others, as in show(pl.DataFrame(...)): they open in the same line."""
    if len(arguments(code[start + 1 : end])) != 1:
        return None
    pairs = [(i + start + 1, j + start + 1) for i, j in outermost(masks(code)[start + 1 : end])]
    between = [code[a:b] for a, b in pairwise([start + 1, *(place for pair in pairs for place in pair)])][::2]
    is_call = pairs and pairs[-1][0] < WIDTH - 4 and not any(" " in part for part in between)
    return next((pair for pair in pairs if is_call and pair[1] == end - 1 and pair[1] - pair[0] > 2), None)


def outermost(code: str) -> list[tuple[int, int]]:
    """Positions of brackets and of those that close them, without pairs that stand in others."""
    open_at: list[int] = []
    pairs: list[tuple[int, int]] = []
    for i in range(len(code)):
        if code[i] in CLOSED:
            open_at.append(i)
        elif code[i] in CLOSED.values() and open_at:
            begin = open_at.pop()
            pairs = [*(pair for pair in pairs if pair[0] < begin), (begin, i)]
    return pairs


def arguments(code: str) -> list[str]:
    """What stands between the commas of a text, outside of brackets, each with its comma."""
    masked = list(masks(code))
    for start, end in outermost("".join(masked)):
        masked[start : end + 1] = "x" * (end + 1 - start)
    parts = re.findall(r"[^,]+,?", "".join(masked))
    ends = list(accumulate(map(len, parts)))
    return [code[end - len(part) : end].strip() for part, end in zip(parts, ends, strict=True) if part.strip()]


def filled(items: list[str], indent: str) -> list[str]:
    """Lines of as many items as fit."""
    lines = [indent + items[0]] if items else []
    for item in items[1:]:
        if len(lines[-1]) + 1 + len(item) <= WIDTH - 4:
            lines[-1] += f" {item}"
        else:
            lines.append(indent + item)
    return lines


def with_copies(html: str) -> str:
    """Return a built page whose sessions carry what their button copies: the input, without prompts and output."""

    def marked(block: re.Match[str]) -> str:
        text = unescape(re.sub(r"<[^>]+>", "", block[2]))
        prompts = next((pair for pair in PROMPTS if text.startswith(pair[0])), None)
        return f'{block[1]} data-copy="{escape(copied(text, *prompts))}">{block[2]}' if prompts else block[0]

    return BUILT.sub(marked, html)


def copied(session: str, first: str, next_: str) -> str:
    """Return the input of a session."""
    found, within = [], False
    for line in session.splitlines():
        within = line.startswith(first) or (within and f"{line} ".startswith(next_))
        if within:
            found.append(line[len(first) :])
    return "\n".join(found)
