"""HTML for notebooks: one way to escape, one style sheet, and the parts that outputs are made of.

    page(box(table("kernels", ["name"], [["relu"]])))

An output is one `page`. Nothing in it is loaded or run, it has no ids, and no address of an object:
the same object gives the same text. Where styles are blocked, too, it can be read: what is
preformatted is in `<pre>`, what is folded in `<details>`, which needs no script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePath
from typing import Literal

from .span import Span
from .style_sheet import style_sheet
from .styles import HIDDEN

__all__ = [
    "Theme", "box", "escape", "fold", "hint_of", "hinted", "legible", "page", "preformatted",
    "prose", "table", "tensor", "title",
]  # fmt: skip

Theme = Literal["light", "dark"]

# What `visible` hides, but not tabs; and what no encoding, or no XML, has: halves of characters.
_HIDDEN = {
    **{code: sign for code, sign in HIDDEN.items() if chr(code) != "\t"},
    **dict.fromkeys((*range(0xD800, 0xE000), 0xFFFE, 0xFFFF), "\ufffd"),
}
# And what HTML means something by; not `html.escape`, whose module is slow to import.
_ESCAPED = {
    **_HIDDEN,
    **{
        ord(sign): word
        for sign, word in zip("&<>\"'", ("&amp;", "&lt;", "&gt;", "&quot;", "&#x27;"))
    },
}
_LONGEST_HINT = 300
_OPEN_LINES = 40  # of elements


def escape(text: str) -> str:
    """Any text as HTML, between tags and in attributes.

    A sign stands for each control character and each change of direction, as in a terminal.
    """
    return text.translate(_ESCAPED)


def prose(text: str) -> str:
    """A sentence as HTML, in which what stands between backticks is code."""
    plain, *marked = escape(text).split("`")
    pairs = [f"<code>{code}</code>{rest}" for code, rest in zip(marked[::2], marked[1::2])]
    left = [f"`{marked[-1]}"] if len(marked) % 2 else []
    return "".join([plain, *pairs, *left])


def legible(text: str) -> str:
    """The text with a sign for each character that would not show, or change what others show."""
    return text if text.isascii() and text.isprintable() else text.translate(_HIDDEN)


def page(*parts: str, theme: Theme | None = None) -> str:
    """A whole output: its parts with the style sheet; the reader's theme unless one is given."""
    name = "relaxscript" if theme is None else f"relaxscript {theme}"
    return f'<div class="{name}"><style>{style_sheet()}</style>{"".join(parts)}</div>'


def box(*parts: str, folds: bool = False) -> str:
    """Parts on a background of their own; with `folds`, there is room for signs beside them."""
    return f'<div class="rx-box{" rx-folds" if folds else ""}">{"".join(parts)}</div>'


def preformatted(body: str) -> str:
    """Escaped text as it stands, with all its blanks."""
    # Readers of HTML drop a line end that comes first.
    return f"<pre>{'<span></span>' if body.startswith(chr(10)) else ''}{body}</pre>"


def fold(summary: str, body: str, more: str, is_open: bool) -> str:
    """A part below a summary that can be folded; `more` says how much is folded away then."""
    shown = ' open=""' if is_open else ""
    # What reads and writes HTML leaves blanks alone in `<pre>` only.
    head = f'<summary data-more="{escape(more)}">{preformatted(summary)}\n</summary>'
    return f"<details{shown}>{head}{body}</details>"


def title(name: str, facts: Iterable[str] = ()) -> str:
    """The head of an output: what it is, and some facts about it."""
    said = [f"<b>{escape(name)}</b>", *map(escape, facts)]
    return f'<div class="rx-title">{" · ".join(said)}</div>'


def tensor(shape: Sequence[int], facts: Iterable[object], elements: str) -> str:
    """A whole output for a tensor: its shape, other facts, and its elements; many are folded."""
    name = " × ".join(map(str, shape)) if shape else "scalar"
    count = elements.count("\n") + 1
    body = preformatted(escape(elements))
    if count > _OPEN_LINES:
        body = fold("elements", body, f"{count:,} lines", is_open=False)
    return page(box(title(name, map(str, facts)), body, folds=count > _OPEN_LINES))


def table(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int],
    hints: Callable[[int, int], str] = lambda row, column: "",
) -> str:  # fmt: skip
    """A table; columns of `right` end under one another, `hints` are of a cell's row and column."""

    def line(cells: Sequence[str], tag: str, row: int) -> str:
        made = []
        for i, cell in enumerate(cells):
            side = ' class="right"' if i in right else ""
            scope = ' scope="col"' if tag == "th" else ""
            hint = hints(row, i) if tag == "td" else ""
            said = f' title="{escape(hint)}"' if hint else ""
            made.append(f"<{tag}{scope}{side}{said}>{escape(cell)}</{tag}>")
        return f"<tr>{''.join(made)}</tr>"

    body = "".join(line(row, "td", number) for number, row in enumerate(rows))
    return (
        f'<table class="rx-rows"><caption class="rx-title">{escape(caption)}</caption>'
        f"<thead>{line(header, 'th', 0)}</thead><tbody>{body}</tbody></table>"
    )


def hinted(text: str, hint: str, role: str = "") -> str:
    """A piece of text with what is said where one points at it, and a role for its colour."""
    said = f' class="{role}"' if role else ""
    said += f' title="{escape(hint)}"' if hint else ""
    return f"<span{said}>{escape(text)}</span>" if said else escape(text)


def hint_of(span: Span | None) -> str:
    """The place of a span in few words and its line: "model.py:21: h = R.matmul(x, w)"."""
    if span is None:
        return ""
    where = span.source.location(*span.start)
    if where.startswith(span.filename) and span.source.cell is None:
        # What is stored in a notebook shows no folders of who ran it.
        where = f"{PurePath(span.filename).name}:{span.line}"
    return f"{where}: {span.source.line(span.line).strip()[:_LONGEST_HINT]}"
