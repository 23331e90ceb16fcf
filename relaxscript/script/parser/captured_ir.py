"""Nodes that Python made and a script mentions, which the parser has not checked.

They get the place where the script mentions them. The finished program is then checked by the
criteria of well-formedness, as a program made by hand is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from relaxscript.analysis.well_formedness import violations
from relaxscript.errors import Diagnostic, Label, Span
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Binding,
    Call,
    Function,
    If,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.struct_info import StructInfo
from relaxscript.ir.walk import children, post_order, rewrite

__all__ = ["is_captured_ir", "mistakes_in", "with_span"]

_COMPOUND = (Binding, Call, If, SeqExpr, Tuple, TupleGetItem)
# These are in StructInfos as well, so in what is known of the variables of the script.
_LEAVES = (PrimValue, ShapeExpr)


def is_captured_ir(value: Any) -> bool:
    """True if a value of Python's is, or may hold, something that can be wrong by itself."""
    return isinstance(value, (*_COMPOUND, *_LEAVES, StructInfo, list, tuple, dict))


def with_span(value: Any, span: Span | None) -> Any:
    """An expression with its place in the script; other values as they are."""
    if not isinstance(value, (*_COMPOUND, *_LEAVES)) or value.span is not None or span is None:
        return value

    def at(node: Node) -> Node | None:
        lost = isinstance(node, _COMPOUND) and node.span is None
        return node.replace(span=span) if lost else None

    return rewrite(value, at).replace(span=span)


def mistakes_in(root: IRModule | Function, otherwise: Span | None) -> Iterator[Diagnostic]:
    """The violations of well-formedness in a parsed program, each where the script mentions it.

    `otherwise` is the place of what comes from elsewhere.
    """
    found = violations(root)
    holders = _holders(root) if found else {}
    for finding in found:
        # A variable has the place where it is bound, its mistake the one where it is used.
        used = isinstance(finding.node, Var) and finding.within is not None
        at: Node | None = finding.within if used else finding.node
        while at is not None and at.span is None:
            at = holders.get(id(at))
        span = otherwise if at is None else at.span
        labels = (Label(span, finding.fact),) if span is not None and finding.fact else ()
        yield Diagnostic(finding.code, finding.message, span, labels, (), finding.help)


def _holders(root: IRModule | Function) -> dict[int, Node]:
    """The first node that holds each node of a program, by id."""
    found: dict[int, Node] = {}
    functions = [root] if isinstance(root, Function) else root.functions.values()
    for node in (node for function in functions for node in post_order(function)):
        for child in children(node):
            found.setdefault(id(child), node)
    return found
