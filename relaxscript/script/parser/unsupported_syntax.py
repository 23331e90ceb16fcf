"""Forms of Python that scripts do not have: their names, and what to write instead."""

from __future__ import annotations

import ast
from typing import Any

from relaxscript.errors import Source, Span

__all__ = ["STATEMENTS", "TRY_STAR", "UNSUPPORTED", "first_word", "of_later_pythons"]

# `except*` from Python 3.11 on; an older one cannot read it.
TRY_STAR: type[ast.Try] = getattr(ast, "TryStar", ast.Try)

_COMPOUND = (ast.For, ast.While, ast.Try, TRY_STAR, ast.With, ast.ClassDef, ast.AsyncFor,
             ast.AsyncWith, ast.AsyncFunctionDef, ast.Match, ast.If)  # fmt: skip


def first_word(source: Source, node: ast.stmt) -> Span | None:
    """The word that a statement of several lines begins with; None for other statements."""
    if not isinstance(node, _COMPOUND):
        return None
    text = source.lines[node.lineno - 1].encode()[node.col_offset :]
    length = next((i for i, c in enumerate(text) if not chr(c).isalpha()), len(text))
    word = ast.expr(
        lineno=node.lineno, col_offset=node.col_offset, end_lineno=node.lineno,
        end_col_offset=node.col_offset + length,
    )  # fmt: skip
    return source.span(word)


def of_later_pythons(**forms: tuple[str, str | None]) -> dict[type[Any], tuple[str, str | None]]:
    """Help for forms that this Python may not have, by the names of their nodes."""
    return {getattr(ast, name): said for name, said in forms.items() if hasattr(ast, name)}


STATEMENTS: dict[type[ast.stmt], tuple[str, str | None]] = {
    ast.For: ("`for`", "write the steps out, or loop in a `@T.prim_func`"),
    ast.AsyncFor: ("`async for`", None),
    ast.While: (
        "`while`",
        "write a recursive function with a return annotation, or a `@T.prim_func`",
    ),
    **dict.fromkeys(
        (ast.Try, TRY_STAR),
        ("`try`", "Relax has no exceptions: check values with `R.match_cast` or `R.assert_op`"),
    ),
    **of_later_pythons(
        TypeAlias=("`type`", "name an annotation outside the function: `X = R.Tensor(...)`")
    ),
    ast.Raise: ("`raise`", "stop with `R.assert_op(condition, ...)`"),
    ast.Assert: ("`assert`", "write `R.assert_op(condition, ...)` in an impure function"),
    ast.Delete: ("`del`", "values are freed after their last use by themselves"),
    ast.Import: ("`import`", "import outside the function"),
    ast.ImportFrom: ("`import`", "import outside the function"),
    ast.Global: ("`global`", "Relax functions have no variables outside: pass values as arguments"),
    ast.Nonlocal: ("`nonlocal`", "closures cannot change what they capture: return the new value"),
    ast.ClassDef: ("`class`", "define it outside the function"),
    ast.With: ("`with`", "only `with R.dataflow():` has a meaning in Relax"),
    ast.AsyncWith: ("`async with`", None),
    ast.AsyncFunctionDef: ("`async def`", "define a plain function"),
    ast.Match: ("`match`", "write `if` and `else`"),
    ast.Break: ("`break`", None),
    ast.Continue: ("`continue`", None),
}

UNSUPPORTED: dict[type[ast.AST], tuple[str, str | None]] = {
    ast.ListComp: ("a list comprehension", "write the elements out"),
    ast.SetComp: ("a set comprehension", None),
    ast.DictComp: ("a dict comprehension", "write the items out"),
    ast.GeneratorExp: ("a generator expression", "write the elements out"),
    ast.Lambda: ("a lambda", "define a function"),
    ast.Await: ("`await`", None),
    ast.Yield: ("`yield`", None),
    ast.YieldFrom: ("`yield from`", None),
    ast.NamedExpr: ("`:=`", "assign in a statement of its own"),
    ast.Set: ("a set", "write a tuple"),
    ast.Starred: ("`*` unpacking", None),
    ast.JoinedStr: ("an f-string", None),
    **of_later_pythons(TemplateStr=("a t-string", "write an f-string")),
}
