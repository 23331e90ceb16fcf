"""The name that is being typed at a place, told by the text before it.

That need be no Python yet.

    y = R.nn.re|          the members of `R.nn` that begin with "re"
    y = R.sum(x, ax|      a name, or a parameter of `R.sum`
    w: R.Tensor(("n|      a dimension, in a string
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from relaxscript.errors import Source

from .documents import Place

__all__ = ["OpenCall", "Typing", "typing_at"]

KEYWORD = re.compile(r"\s*(\w+)\s*=(?!=)")
# A string or comment from its beginning on; one in single quotes ends with its line.
QUOTE = re.compile(r"\"\"\"|'''|\"|'|#")
REST = {
    '"': re.compile(r'(?:\\.|[^"\\\n])*("|\n|\Z)', re.DOTALL),
    "'": re.compile(r"(?:\\.|[^'\\\n])*('|\n|\Z)", re.DOTALL),
    '"""': re.compile(r'(?:\\.|[^\\])*?(""")', re.DOTALL),
    "'''": re.compile(r"(?:\\.|[^\\])*?(''')", re.DOTALL),
    "#": re.compile(r"[^\n]*(\n|\Z)"),
}
# A call that began further above is not looked for, nor one before a line that begins so.
MOST_LETTERS = 6000
STATEMENT = re.compile(r"\n[ \t]*(@|class\b|def\b|for\b|if\b|return\b|with\b)")
OPENING, CLOSING = "([{", ")]}"


@dataclass(frozen=True)
class OpenCall:
    """A call that is not closed yet: its callee, and the argument that is being typed."""

    callee: str
    position: int
    keyword: str | None = None


@dataclass(frozen=True)
class Typing:
    """The name that is being typed: what is before its last dot, and its beginning."""

    owner: str
    start: str
    in_string: bool
    in_comment: bool
    call: OpenCall | None


def typing_at(source: Source, place: Place) -> Typing:
    """The name, call or string that is being typed at a place."""
    text = source.text[: source.offset(*place)]
    owner, _, start = name_before(text).rpartition(".")
    inside, pieces = "", []
    at = max(0, len(text) - MOST_LETTERS)
    for begin, end, kind in _quoted(text):
        inside = kind if end == len(text) else ""
        if end > at:
            pieces += [text[at:begin], "_" * (end - max(at, begin))]
            at = end
    call = _open_call("".join([*pieces, text[at:]]))
    return Typing(owner, start, inside == "string", inside == "comment", call)


def name_before(text: str) -> str:
    """The end of a text as far as it is names with dots between them."""
    at = len(text)
    while at > 0 and (text[at - 1] == "." or f"a{text[at - 1]}".isidentifier()):
        at -= 1
    return text[at:].lstrip(".")


def _quoted(text: str) -> Iterator[tuple[int, int, str]]:
    """Strings and comments with their ends; those that are not closed say what they are."""
    at = 0
    while (found := QUOTE.search(text, at)) is not None:
        kind = found[0]
        closed = REST[kind].match(text, found.end())
        at = len(text) if closed is None else closed.end()
        is_open = closed is None or not closed[1]
        yield found.start(), at, ("comment" if kind == "#" else "string") if is_open else ""


def _open_call(masked: str) -> OpenCall | None:
    """The innermost call whose parenthesis is open at the end of a text."""
    depth, commas, after = 0, 0, len(masked)
    for index in range(len(masked) - 1, -1, -1):
        letter = masked[index]
        if letter == "\n" and STATEMENT.match(masked, index):
            return None
        if letter in CLOSING:
            depth += 1
        elif letter in OPENING:
            if depth:
                depth -= 1
                continue
            before = masked[:index].rstrip(" \t")
            callee = name_before(before)
            if letter == "(" and callee and not _is_definition(before[: -len(callee)]):
                named = KEYWORD.match(masked, after if commas else index + 1)
                return OpenCall(callee, commas, named[1] if named else None)
            commas, after = 0, index  # a tuple or list that is itself an argument
        elif letter == "," and not depth:
            commas += 1
            after = index + 1 if commas == 1 else after
    return None


def _is_definition(text: str) -> bool:
    return name_before(text.rstrip(" \t")) in ("def", "class")
