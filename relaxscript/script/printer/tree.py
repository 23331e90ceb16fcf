"""Python's `ast` as the printer makes it: short names for its nodes, and comments.

Nodes that stand for a piece of IR carry it in `origins`; see `placed`.
"""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

__all__ = [
    "Comment", "annotated", "assign", "attribute", "call", "constant", "define", "dictionary",
    "dotted", "items", "name", "negative", "number", "pair", "statement", "subscript", "with_block",
    "with_origins",
]  # fmt: skip

Tree = TypeVar("Tree", bound=ast.AST)
_LOAD = ast.Load()
_STORE = ast.Store()


class Comment(ast.stmt):
    """A comment on a line of its own."""

    _fields = ("text",)

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


def with_origins(tree: Tree, *origins: Any) -> Tree:
    """The tree, which stands for these IR nodes too."""
    known = getattr(tree, "origins", ())
    # A tree that is written in many places is made once, and gets the same nodes each time.
    new = [node for node in origins if all(node is not other for other in known)]
    vars(tree)["origins"] = (*known, *new)
    return tree


def name(text: str) -> ast.Name:
    return ast.Name(text, _LOAD)


def constant(value: Any) -> ast.Constant:
    """A literal that is not a negative number."""
    return ast.Constant(value)


def negative(tree: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.USub(), tree)


def number(value: float) -> ast.expr:
    """A literal number as Python reads it: the sign is an operator, `float("inf")` a call."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return call(name("float"), [constant(str(value))])
    if value < 0 or (value == 0 and str(value)[0] == "-"):
        return negative(ast.Constant(-value))
    return ast.Constant(value)


def dotted(path: str) -> ast.expr:
    """`a.b.c` as syntax."""
    first, *rest = path.split(".")
    tree: ast.expr = name(first)
    for part in rest:
        tree = attribute(tree, part)
    return tree


def attribute(tree: ast.expr, attr: str) -> ast.Attribute:
    return ast.Attribute(tree, attr, _LOAD)


def call(
    function: ast.expr, args: Iterable[ast.expr] = (), /, **keywords: ast.expr | None
) -> ast.Call:
    """A call; keywords that are None are left out, those that are no names are in `**{...}`."""
    given = [(key, value) for key, value in keywords.items() if value is not None]
    words = [ast.keyword(key, value) for key, value in given if _is_name(key)]
    others = [(constant(key), value) for key, value in given if not _is_name(key)]
    if others:
        words.append(ast.keyword(None, dictionary(others)))
    return ast.Call(function, list(args), words)


def _is_name(word: str) -> bool:
    return word.isidentifier() and word.isascii() and not keyword.iskeyword(word)


def items(
    values: Iterable[ast.expr], kind: type[ast.Tuple] | type[ast.List] = ast.List
) -> ast.expr:
    """A list, or a tuple, of expressions."""
    return kind(list(values), _LOAD)


def dictionary(pairs: Iterable[tuple[ast.expr, ast.expr]]) -> ast.Dict:
    listed = list(pairs)
    return ast.Dict([key for key, _ in listed], [value for _, value in listed])


def subscript(tree: ast.expr, index: Sequence[ast.expr]) -> ast.Subscript:
    """`tree[i, j]`; without an index, `tree[()]`."""
    inner = index[0] if len(index) == 1 else ast.Tuple(list(index), _LOAD)
    return ast.Subscript(tree, inner, _LOAD)


def pair(low: ast.expr, high: ast.expr) -> ast.Slice:
    """`low:high`."""
    return ast.Slice(low, high)


def assign(target: ast.expr, value: ast.expr) -> ast.Assign:
    return ast.Assign([target], value)


def annotated(target: ast.Name, annotation: ast.expr, value: ast.expr) -> ast.AnnAssign:
    return ast.AnnAssign(target, annotation, value, 1)


def statement(tree: ast.expr) -> ast.Expr:
    return ast.Expr(tree)


def with_block(context: ast.expr, body: list[ast.stmt], target: ast.expr | None = None) -> ast.With:
    return ast.With([ast.withitem(context, target)], body or [ast.Pass()])


def define(
    title: str,
    params: Sequence[ast.arg],
    body: list[ast.stmt],
    decorator: ast.expr,
    returns: ast.expr | None = None,
) -> ast.FunctionDef:
    """A decorated function."""
    arguments = ast.arguments(
        posonlyargs=[], args=list(params), vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None,
        defaults=[],
    )  # fmt: skip
    tree = ast.FunctionDef(title, arguments, body or [ast.Pass()], [decorator], returns)
    vars(tree).setdefault("type_params", [])
    return tree
