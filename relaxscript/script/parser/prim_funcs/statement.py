"""Statements of PrimFuncs: what each form of Python's means.

    statement = "for" names "in" loops ":" body | "while" scalar ":" body
              | "if" scalar ":" body ["else" ":" body] | "assert" scalar ["," string]
              | "with" scopes ":" body | element "=" scalar | element op "=" scalar
              | name [":" type] "=" scalar | name "=" buffer | "return" [scalar]
              | "T.func_attr(...)" | "T.evaluate(...)" | scalar | "pass" | docstring
    loops     = "range(...)" | "T.serial(...)" | "T.parallel(...)" | "T.grid(...)" ...
    scopes    = block | "T.init()" | "T.grid(...)" "as" names | "T.LetStmt(...)" "as" name
              | "T.allocate(...)" "as" name | "T.attr(...)" ...

A scalar variable never changes: it can be bound anew only beside its first binding, where that
means the same as in Python.
"""

from __future__ import annotations

import ast

from .assign import parse_annotated, parse_assign, parse_augmented
from .body import unsupported_statement
from .context import TirContext
from .effect import parse_assert, parse_expression_statement
from .loop import parse_for, parse_if, parse_loop_exit, parse_while
from .macro import parse_inner_definition
from .result import parse_return
from .with_statement import parse_with

__all__ = ["parse_stmt"]


# One case for each form of the grammar above.
def parse_stmt(cx: TirContext, node: ast.stmt) -> None:  # noqa: C901
    """Read one statement; raises `Failed` after recording a mistake."""
    match node:
        case ast.Assign():
            parse_assign(cx, node)
        case ast.Expr():
            parse_expression_statement(cx, node)
        case ast.For():
            parse_for(cx, node)
        case ast.With():
            parse_with(cx, node)
        case ast.AnnAssign():
            parse_annotated(cx, node)
        case ast.AugAssign():
            parse_augmented(cx, node)
        case ast.If():
            parse_if(cx, node)
        case ast.While():
            parse_while(cx, node)
        case ast.Assert():
            parse_assert(cx, node)
        case ast.Return():
            parse_return(cx, node)
        case ast.Break() | ast.Continue():
            parse_loop_exit(cx, node)
        case ast.FunctionDef():
            parse_inner_definition(cx, node)
        case ast.Pass():
            pass
        case _:
            raise unsupported_statement(cx, node)
