"""Tests that something is refused, and do not look at what is said."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from relaxscript_tests.syntax import nodes_of

__all__ = ["unseen_messages"]

# Errors of ours, and what they derive from: any mistake would pass for the one that is meant.
OURS = frozenset(
    """AnnotationError ArgumentError BaseException DiagnosticError Exception HeaderError
    InternalError OperandError RuntimeError TIRError VMError""".split()
)
SHORTEST = 3  # characters: a digit or two are in the code or the place of most messages


def unseen_messages(files: Mapping[str, str]) -> list[str]:
    """Where `pytest.raises` takes an error of ours whatever it says."""
    return [
        f"{path}:{line}: any `{name}` would do; say by `match` which is meant"
        for path, text in files.items()
        for line, name in sorted(unseen_in(text))
    ]


def unseen_in(text: str) -> Iterator[tuple[int, str]]:
    if "raises(" not in text:
        return
    for node in nodes_of(text):
        if isinstance(node, ast.With):
            for item in node.items:
                name = refused(item.context_expr)
                if name is not None and item.optional_vars is None:
                    yield node.lineno, name


def refused(node: ast.expr) -> str | None:
    """The error of ours that is expected whatever it says; None where its words are looked at."""
    match node:
        case ast.Call(func=ast.Attribute(attr="raises") | ast.Name(id="raises"), args=[kind, *_]):
            name = kind.id if isinstance(kind, ast.Name) else getattr(kind, "attr", "")
            words = [keyword.value for keyword in node.keywords if keyword.arg == "match"]
            return name if name in OURS and not any(map(is_telling, words)) else None
    return None


def is_telling(words: ast.expr) -> bool:
    """True for a pattern that is computed, or long enough to be of one message."""
    return not isinstance(words, ast.Constant) or len(str(words.value)) >= SHORTEST
