"""Bodies of statements, and what a statement that means nothing is told."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from relaxscript.ir import prim
from relaxscript.ir.tir import Buffer, Stmt
from relaxscript.script.parser.diagnostics import UNKNOWN, Failed
from relaxscript.script.parser.unsupported_syntax import TRY_STAR, of_later_pythons
from relaxscript.tir_builder import Scope, TIRError

from .context import TirContext

__all__ = [
    "LOOP_HELP",
    "check_realized",
    "first_line",
    "parse_branch",
    "parse_statements",
    "parse_suite",
    "parse_suite_in",
    "unsupported_statement",
]

LOOP_HELP = (
    "loop over `range(n)`, `T.grid(n, m)`, `T.parallel(n)`, `T.vectorized(n)` or `T.unroll(n)`"
)

STATEMENTS: dict[type[ast.stmt], tuple[str, str | None]] = {
    ast.FunctionDef: (
        "a function inside a function",
        "define it outside, and call it as `cls.f(...)`",
    ),
    ast.AsyncFunctionDef: ("an async function", None),
    ast.ClassDef: ("a class", None),
    ast.Delete: ("`del`", "names end with the statement around them"),
    ast.AsyncFor: ("`async for`", LOOP_HELP),
    ast.AsyncWith: ("`async with`", None),
    ast.Match: ("`match`", "write `if` and `elif`"),
    ast.Raise: ("`raise`", 'write `assert condition, "message"`'),
    **dict.fromkeys(
        (ast.Try, TRY_STAR),
        ("`try`", 'nothing can be caught; check before: `assert condition, "message"`'),
    ),
    **of_later_pythons(TypeAlias=("`type`", "name a dtype outside the function")),
    ast.Import: ("`import`", "import at the top of the file"),
    ast.ImportFrom: ("`import`", "import at the top of the file"),
    ast.Global: ("`global`", "captured Python values can be read without it"),
    ast.Nonlocal: ("`nonlocal`", "captured Python values can be read without it"),
    ast.Break: (
        "`break`",
        "write `while` with the condition to go on, or guard the rest with `if`",
    ),
    ast.Continue: ("`continue`", "guard the rest of the loop with `if`"),
}


def check_realized(cx: TirContext) -> None:
    """Refuse a region that exists for no statement at all."""
    call = cx.realized.get(cx.builder.items[-1]) if cx.builder.items else None
    if call is not None:
        cx.error(
            call, "RX0501", "`T.realize` holds the statements after it, and here are none",
            help="write what uses the buffer after it",
        )  # fmt: skip


# body = { statement }
def parse_suite(cx: TirContext, body: Sequence[ast.stmt]) -> Stmt:
    """Statements as one, which are added nowhere; each that fails leaves its names unknown."""
    found: list[Stmt] = []
    with cx.builder.collecting("scope", found.append):
        parse_statements(cx, body)
        check_realized(cx)
    return found[0]


def parse_suite_in(cx: TirContext, scope: Scope, body: Sequence[ast.stmt], node: ast.AST) -> None:
    """Statements in a scope of the builder; what is wrong with it as a whole is wrong at `node`."""
    try:
        with cx.scope(), scope:
            parse_statements(cx, body)
            check_realized(cx)
    except TIRError as error:
        raise cx.refuse(error, node, {}) from None


def parse_branch(cx: TirContext, body: Sequence[ast.stmt]) -> Stmt:
    """Statements as one, whose names are known no more after them."""
    with cx.scope():
        return parse_suite(cx, body)


def parse_statements(cx: TirContext, body: Sequence[ast.stmt]) -> None:
    for statement in body:
        parse_statement(cx, statement)


def parse_statement(cx: TirContext, node: ast.stmt) -> None:
    """One statement; where it fails, the names it binds are unknown."""
    cx.visited.add(node)
    cx.reporter.reading = (cx.source, node)
    try:
        cx.language.parse_stmt(cx, node)
    except Failed:
        match node:
            case ast.Assign(targets=targets):
                for target in targets:
                    forget_target(cx, target)
            case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
                forget_target(cx, target)


def unsupported_statement(cx: TirContext, node: ast.stmt) -> Failed:
    """Record that a statement of Python has no meaning in a PrimFunc."""
    what, help = STATEMENTS.get(type(node), (f"`{type(node).__name__}`", None))
    return cx.error(first_line(cx, node), "RX0501", f"{what} is not part of a PrimFunc", help=help)


def first_line(cx: TirContext, node: ast.stmt) -> ast.AST:
    """The part of a statement to underline: of one with a body, its first line."""
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    if not body:
        return node
    line = cx.source.line(node.lineno).rstrip()
    at = ast.copy_location(ast.Pass(), node)
    at.end_lineno, at.end_col_offset = node.lineno, len(line.encode())
    return at


def forget_target(cx: TirContext, target: ast.AST) -> None:
    """The names of an assignment that failed are unknown."""
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            known = cx.names.get(node.id)
            if not isinstance(known, Buffer) and not (
                isinstance(known, prim.Var) and known in cx.fixed
            ):
                cx.names[node.id] = UNKNOWN
