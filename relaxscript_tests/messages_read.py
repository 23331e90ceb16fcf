"""Code that looks into the words of a mistake, which are for people only."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from relaxscript_tests.syntax import nodes_of

__all__ = ["messages_read"]

# What asks a string for what is in it.
READING = frozenset(
    """count endswith find index partition removeprefix removesuffix replace rfind rindex rpartition
    rsplit split startswith""".split()
)


def messages_read(files: Mapping[str, str]) -> list[str]:
    """Where code looks into the words of a mistake: what it needs is a field of the error."""
    return [
        f"{path}:{node.lineno}: reads `{ast.unparse(node)}`; have the error carry it as data"
        for path, text in files.items()
        for node in nodes_of(text)
        if reads_words(node)
    ]


def reads_words(node: ast.AST) -> bool:
    """Whether an expression looks into the words of a mistake."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re")), args=args):
            return any(map(is_wording, args))
        case ast.Call(func=ast.Attribute(value=value, attr=attr)):
            return attr in READING and is_wording(value)
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[text]):
            return is_wording(text)
    return False


def is_wording(node: ast.expr) -> bool:
    """Whether an expression is the message, fact or help of a mistake, or an error as a string."""
    match node:
        case ast.Attribute(attr="message" | "fact" | "help"):
            return True
        case ast.Call(func=ast.Name(id="str"), args=[ast.Name(id="error" | "failure")]):
            return True
        case ast.BoolOp(values=values):
            return any(map(is_wording, values))
    return False
