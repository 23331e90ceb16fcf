"""Annotations that a text repeats, each as one name, so that Python reads a name in its place.

    lv1: R.Tensor((n, 64), "float32") = R.add(lv0, b)
    lv1: __annotation________________ = R.add(lv0, b)

A printed script has an annotation in nearly every line, of few different texts, and each is more
syntax than the value beside it: with names in their places `ast.parse` takes half as long. A name
is as long as what it stands for, so every position is that of the text as it was written, and
what stands there is found again by its position.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence

from relaxscript.errors import Source
from relaxscript.script.pause import collector_paused

from .source import parse_text

__all__ = ["REPEATED", "abbreviation", "parse_script", "written_out"]

# The annotations whose text says all of what they mean. Function types bind dimensions of their
# own, and scalars may hold any value: these are read anew each time.
REPEATED = frozenset({"Tensor", "Shape", "Tuple", "Object"})

_NAME = "__annotation"
# A call of one on one line, with no text in it but simple ones, behind `name:` and before `=`.
# Positions count bytes, so all up to its end is ASCII.
_FRONT = rf"\w+\.(?:{'|'.join(sorted(REPEATED))})"
_CALL = _FRONT + r"""\((?:[^'"#=\\\n\r\f\x80-\U0010ffff]|"[\w:]*"|\w=)*\)"""
_ANNOTATED = re.compile(rf"^ *def |^( +\w+: )({_CALL})(?= = )", re.MULTILINE | re.ASCII)
# In what may hold such a line without being one: texts of several lines.
_LONG_TEXTS = ("'''", '"""', "\\\n", "\\\r", _NAME)
# The first ones of a function are read as they are: then it is known what their text means.
_READ = 2


def parse_script(filename: str, text: str) -> tuple[Source, ast.Module]:
    """`source.parse_text` for a text that is parsed here and nowhere else; the tree is not kept."""
    short = _abbreviated(text)
    if short != text:
        try:
            with collector_paused():
                return Source(filename, text), ast.parse(short, filename)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass  # the text as it was written is refused in its own words
    return parse_text(filename, text)


def _abbreviated(text: str) -> str:
    """The text with names for annotations.

    What a name stands for was left as it is before, in the same function: where that is no
    expression, neither text is Python.
    """
    if any(word in text for word in _LONG_TEXTS):
        return text
    seen: Counter[str] = Counter()

    def shorter(match: re.Match[str]) -> str:
        written = match[2]
        if written is None:  # another function begins
            seen.clear()
            return match[0]
        seen[written] += 1
        if seen[written] <= _READ or len(written) < len(_NAME):
            return match[0]
        return match[1] + _NAME.ljust(len(written), "_")

    return _ANNOTATED.sub(shorter, text)


def abbreviation(node: ast.expr, lines: Sequence[str]) -> str | None:
    """The text for which a name stands; None where a name is what was written."""
    if node.__class__ is not ast.Name or not node.id.startswith(_NAME):
        return None
    text = lines[node.lineno - 1][node.col_offset : node.end_col_offset]
    return None if text == node.id else text


def written_out(node: ast.expr, lines: Sequence[str]) -> ast.expr:
    """The syntax for which a name stands, where it stands; any other node is itself."""
    text = abbreviation(node, lines)
    if text is None:
        return node
    whole = ast.parse(text, mode="eval").body
    for part in ast.walk(whole):
        if isinstance(part, (ast.expr, ast.keyword)):
            part.lineno = part.end_lineno = node.lineno
            part.col_offset += node.col_offset
            part.end_col_offset = (part.end_col_offset or 0) + node.col_offset
    return whole
