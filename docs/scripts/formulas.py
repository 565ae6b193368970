"""Formulas of the metrics as MathML. Pages have them as plain text, which reads well anywhere; the site sets them."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

TOKEN = re.compile(r"\s*(<=|>=|[A-Za-z]\w*@\w+|[A-Za-z]\w*\(|[A-Za-z]\w*|\d+(?:\.\d+)?(?:e-?\d+)?|[-+*/^=<>(),|])")
SPLIT = re.compile(r"(; |, | with | where |: |\.(?: |$))")
LETTERS = {
    "alpha": "\N{GREEK SMALL LETTER ALPHA}",
    "beta": "\N{GREEK SMALL LETTER BETA}",
    "<=": "≤",
    ">=": "≥",
    "*": "·",
}
# Words that stand in formulas beside the names of metrics, their cells and single letters.
WORDS = {*LETTERS, "ideal", "gain", "rel", "cost", "worth", "floor", "min", "max", "max_grade", "log2", "log_base"}


def typeset(text: str, names: set[str]) -> str:
    """Return a text in which what is a formula is MathML, and everything else as it was."""
    parts = SPLIT.split(text)
    joined, depth = [parts[0]], parts[0].count("(") - parts[0].count(")")
    for mark, part in zip(parts[1::2], parts[2::2], strict=True):
        if depth:
            joined[-1] += mark + part
        else:
            joined += [mark, part]
        depth += part.count("(") - part.count(")")
    return "".join(formula(part, names) if i % 2 == 0 else part for i, part in enumerate(joined))


def formula(text: str, names: set[str]) -> str:
    """Return the MathML of a formula; of a text that is none, the text."""
    summed = re.fullmatch(r"(.*?)sum over (.+?) of (.+)", text)
    try:
        if summed:
            before = Parser(summed[1], names).whole() if summed[1] else ""
            return math(before + total(summed[2]) + Parser(summed[3], names).whole())
        return math(Parser(text, names).whole()) if re.search(r"[-+*/^]|sqrt\(", text) else text
    except SyntaxError:
        return text


def math(content: str) -> str:
    return f'<math displaystyle="true">{content}</math>'


def row(*parts: str) -> str:
    return f"<mrow>{''.join(parts)}</mrow>"


def mark(sign: str) -> str:
    return f"<mo>{escape(LETTERS.get(sign, sign))}</mo>"


def total(over: str) -> str:
    """The sign of a sum, with what it is over below it."""
    return f"<munder><mo>∑</mo><mtext>{escape(over.replace('<=', '≤'))}</mtext></munder>"


class Parser:
    """Sums of products of powers; what stands side by side is multiplied, before it is divided."""

    def __init__(self, text: str, names: set[str]) -> None:
        self.names = names | WORDS
        self.tokens = TOKEN.findall(text)
        if TOKEN.sub("", text).strip() or not self.tokens:
            raise SyntaxError(text)

    def whole(self) -> str:
        found = self.equal()
        if self.tokens:
            raise SyntaxError(self.tokens[0])
        return found

    def next_is(self, *signs: str) -> bool:
        return bool(self.tokens) and self.tokens[0] in signs

    def joined(self, part: Callable[[], str], *signs: str) -> str:
        """Parts with signs between them."""
        found = [part()]
        while self.next_is(*signs):
            found += [mark(self.tokens.pop(0)), part()]
        return row(*found) if len(found) > 1 else found[0]

    def equal(self) -> str:
        return self.joined(self.sum, "=", "<=", ">=")

    def sum(self) -> str:
        sign = mark(self.tokens.pop(0)) if self.next_is("-") else ""
        return sign + self.joined(self.fraction, "+", "-")

    def fraction(self) -> str:
        found = self.product()
        while self.next_is("/"):
            self.tokens.pop(0)
            found = f"<mfrac>{plain(found)}{plain(self.product())}</mfrac>"
        return found

    def product(self) -> str:
        found = [self.power()]
        while self.tokens and (self.next_is("*", "(") or re.match(r"\w", self.tokens[0])):
            between = mark(self.tokens.pop(0)) if self.next_is("*") else '<mspace width="0.2em"/>'
            found += [between, self.power()]
        return row(*found) if len(found) > 1 else found[0]

    def power(self) -> str:
        base = self.atom()
        if not self.next_is("^"):
            return base
        self.tokens.pop(0)
        return f"<msup>{base}{plain(self.atom())}</msup>"

    def atom(self) -> str:
        token = self.tokens.pop(0) if self.tokens else ""
        if token == "(":
            return bracketed(self.until(")"))
        if token == "|":
            return row("<mo>|</mo>", self.until("|"), "<mo>|</mo>")
        if token == "sqrt(":
            return f"<msqrt>{self.until(')')}</msqrt>"
        name = token.rstrip("(")
        if not re.match(r"\w", name) or not (len(name) == 1 or name[0].isdigit() or name.split("@")[0] in self.names):
            raise SyntaxError(token)
        shown = f"<mn>{name}</mn>" if name[0].isdigit() else f"<mi>{LETTERS.get(name, name)}</mi>"
        if name.startswith("log") and len(name) > 3:
            shown = f"<msub><mi>log</mi><mi>{name.removeprefix('log').strip('_')}</mi></msub>"
        return row(shown, bracketed(self.until(")"))) if token.endswith("(") else shown

    def until(self, end: str) -> str:
        found = self.joined(self.sum, ",", "=", "<=")
        if not self.next_is(end):
            raise SyntaxError(end)
        self.tokens.pop(0)
        return found


def bracketed(content: str) -> str:
    """Return a part in brackets, which are as tall as a fraction in it."""
    tall = "" if "<mfrac>" in content else ' stretchy="false"'
    return f"<mrow><mo{tall}>(</mo>{content}<mo{tall}>)</mo></mrow>"


def plain(part: str) -> str:
    """Return a part without brackets around the whole of it, which a fraction or an exponent does not need."""
    inner = re.fullmatch(r"<mrow><mo[^>]*>\(</mo>(.*)<mo[^>]*>\)</mo></mrow>", part)
    if not inner:
        return part
    depths = [0]
    for sign in re.findall(r"<mo[^>]*>([()])</mo>", inner[1]):
        depths.append(depths[-1] + (1 if sign == "(" else -1))
    return part if min(depths) < 0 else row(inner[1])
