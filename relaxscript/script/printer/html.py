"""Scripts as HTML for notebooks: coloured, long functions folded, and names that say what they are.

Pointing at the name of a variable or function shows its StructInfo and its line in the source. That
is an attribute of the name, so it needs no script. Scripts that are longer than
`HINTED_LINES` have none: there, it would be most of the output.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from relaxscript.errors.markup import Theme, box, escape, fold, hinted, legible, page, preformatted
from relaxscript.errors.style_sheet import DARK, LIGHT
from relaxscript.errors.styles import MONOSPACE
from relaxscript.runtime.collector import collector_paused

from .hints import hints_of
from .module import Printer

__all__ = ["HINTED_LINES", "code_html", "html", "script_html"]

HINTED_LINES = 400
# How many lines a function has at most that is shown open, and all of these together.
_OPEN_LINES, _ALL_OPEN_LINES = 60, 240

# The pieces of a script that have colours or hints; what is between them is plain.
_TOKEN = re.compile(
    r"""(?P<gutter>\#[^\n]*)
    |(?P<string>[rbu]?(?:\"{3}(?:\\.|[^\\])*?\"{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
    |(?P<note>@[^\W\d][\w.]*)
    |(?P<keyword>\b(?:and|as|assert|class|def|elif|else|for|from|if|import|in|is|lambda|not|or|pass
        |return|while|with)\b)
    |(?P<number>\b(?:True|False|None|\d[\w.]*(?:(?<=[eE])[+-]\d+)?)\b)
    |(?P<word>[^\W\d]\w*(?:\.\w+)*)""",
    re.VERBOSE | re.DOTALL,
)


def html(text: str, style: str | None = None) -> str:
    """A script as coloured HTML; without a style it follows the reader's light or dark setting.

    A style is "light", "dark" or one of pygments.
    """
    if style is None or style in ("light", "dark"):
        theme: Theme | None = "light" if style == "light" else "dark" if style == "dark" else None
        return page(_folded(text, {}), theme=theme)
    return _in_style_of_pygments(text, style)


def script_html(printer: Printer) -> str:
    """The script that was printed last, as HTML with hints."""
    text = printer.source.text
    with collector_paused():
        return page(_folded(text, hints_of(printer) if text.count("\n") < HINTED_LINES else {}))


def code_html(text: str, hints: Mapping[int, str] | None = None, start: int = 0) -> str:
    """A piece of a script as coloured HTML, without a page.

    `hints` are by the place of a name in a text in which this piece begins at `start`.
    """
    made = []
    end = 0
    said = hints or {}
    defines = False
    for found in _TOKEN.finditer(text):
        kind, piece = found.lastgroup or "", found[0]
        hint = said.get(start + found.start(), "")
        role = _role(kind, piece, defines)
        defines = piece in ("def", "class")
        if role or hint:
            made += [escape(text[end : found.start()]), hinted(piece, hint, role)]
            end = found.end()
    return "".join([*made, escape(text[end:])])


def _role(kind: str, piece: str, defines: bool) -> str:
    """The role of a piece: operators and definitions are names, annotations are kinds."""
    if kind != "word":
        return kind
    if defines:
        return "name"
    head, _, last = piece.rpartition(".")
    if head.partition(".")[0] not in ("I", "R", "T"):
        return ""
    return "kind" if last[0].isupper() else "name"


# ---- folding


class _Part(NamedTuple):
    """Lines of a script: a function has `body` lines below its signature; others have all."""

    first: int
    body: int
    end: int


def _folded(text: str, hints: Mapping[int, str]) -> str:
    """The script in a box; functions fold below their signatures, long ones are folded."""
    lines = text.splitlines(keepends=True) if "\r" in text else re.findall(r"[^\n]*\n|[^\n]+", text)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def code(first: int, end: int) -> str:
        piece = text[starts[first] : starts[end]]
        return code_html(piece, hints, starts[first])

    functions = _functions(text)
    opened = _open_ones(functions)
    made = []
    at = 0
    for part in functions:
        if part.first > at:
            made.append(preformatted(code(at, part.first)))
        count = part.end - part.body
        made.append(
            fold(
                code(part.first, part.body).removesuffix("\n"),
                preformatted(code(part.body, part.end)),
                f"{count:,} line{'s' if count > 1 else ''}",
                part in opened,
            )
        )
        at = part.end
    if at < len(lines) or not made:
        made.append(preformatted(code(at, len(lines))))
    return box(*made, folds=bool(functions))


def _open_ones(functions: list[_Part]) -> set[_Part]:
    """The functions that are shown open: short ones, the last first, since `main` comes last."""
    opened = set()
    left = _ALL_OPEN_LINES
    for part in reversed(functions):
        count = part.end - part.first
        if count <= min(_OPEN_LINES, left):
            opened.add(part)
            left -= count
    return opened


def _functions(text: str) -> list[_Part]:
    """The functions of a script; none where it is no Python, because it has marks for example."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found = [
        _part(inner)
        for node in tree.body
        for inner in (node.body if isinstance(node, ast.ClassDef) else [node])
        if isinstance(inner, ast.FunctionDef)
    ]
    apart = all(one.end <= other.first for one, other in pairwise(found))
    return [part for part in found if part.first < part.body < part.end] if apart else []


def _part(function: ast.FunctionDef) -> _Part:
    first = min([function.lineno, *(node.lineno for node in function.decorator_list)]) - 1
    inner = function.body[0]
    decorators = getattr(inner, "decorator_list", ())
    body = min([inner.lineno, *(node.lineno for node in decorators)]) - 1
    return _Part(first, body, function.end_lineno or inner.lineno)


# ---- styles of pygments


def _in_style_of_pygments(text: str, style: str) -> str:
    """The script in a style of pygments, with a class of its own: other scripts keep theirs."""
    from pygments import highlight
    from pygments.formatters.html import HtmlFormatter
    from pygments.lexers.python import PythonLexer

    lexer = PythonLexer(stripnl=False, ensurenl=False)
    body = highlight(legible(text), lexer, HtmlFormatter(nowrap=True))
    if not text.endswith("\n"):
        body = body.removesuffix("\n")  # pygments ends every line
    used = frozenset(re.findall(r'<span class="(\w+)">', body))
    name = f"relaxscript-{style}"
    sheet = "\n".join(rule for kind, rule in _rules(name, style) if kind in {"", *used})
    return f'<style>{sheet}</style><pre class="{name}">{body}</pre>'


@lru_cache(maxsize=8)
def _rules(name: str, style: str) -> list[tuple[str, str]]:
    """The rules of a style, each with the class that it is for; the whole has none."""
    from pygments.formatters.html import HtmlFormatter
    from pygments.styles import get_style_by_name

    background = get_style_by_name(style).background_color
    # The page may write in any colour, so ours is said, not inherited.
    text = (LIGHT if _is_light(background) else DARK)["text"]
    shape = f"font-family: {MONOSPACE}; white-space: pre; padding: 0.6em 0.8em; overflow-x: auto"
    found = [("", f".{name} {{ background: {background}; color: {text}; {shape} }}")]
    for line in HtmlFormatter(style=style).get_style_defs(f".{name}").split("\n"):
        rule = re.match(r"\.[-\w]+ \.(\w+) \{[^}]*\}", line)
        if rule is not None:
            found.append((rule[1], rule[0]))
    return found


def _is_light(colour: str) -> bool:
    """True if dark text can be read on a colour, `#rrggbb` or `#rgb`."""
    digits = colour.removeprefix("#")
    size = len(digits) // 3
    parts = [int(digits[i * size : (i + 1) * size], 16) for i in range(3)]
    middle = 3 * int(16**size) // 2
    return sum(parts) > middle
