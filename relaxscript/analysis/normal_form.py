"""Normal form: what of a program is not written flat (spec, "Normal Form" 1 to 4).

Parsed programs, and those of a BlockBuilder, are always in normal form; nodes made by hand need not
be. Calls of operators have rules of their own, 5: they are criterion 23, in
`well_formed_checker.py`. The walk takes no recursion, and skips what is in a wrong place.
"""

from __future__ import annotations

from collections.abc import Iterator

from relaxscript.errors import OperandError
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    BaseFunc,
    BindingBlock,
    Call,
    DataflowBlock,
    Expr,
    Function,
    If,
    LeafExpr,
    Op,
    SeqExpr,
    Tuple,
    TupleGetItem,
)
from relaxscript.op import ArgumentError, lookup

from .violation import Violation

__all__ = ["is_normal", "normal_form_violations"]

_HELP = "`relax.transform.Normalize()` brings the program into normal form"
_KINDS = {
    Call: "a call", Function: "a function", If: "an `if`", SeqExpr: "a SeqExpr",
    TupleGetItem: "an index into a tuple",
}  # fmt: skip
_PLACES: dict[type[Node], str] = {SeqExpr: "the result of a body", Tuple: "in a tuple"}


def is_normal(expr: Expr) -> bool:
    """True if a function, a body or a branch is in normal form, with all that is inside."""
    calls: list[tuple[Op, Call]] = []
    if next(normal_form_violations(expr, calls), None) is not None:
        return False
    try:
        return all(lookup(op).normalize(call) is call for op, call in calls)
    except (OperandError, ArgumentError):
        return False


def normal_form_violations(
    expr: Expr, calls: list[tuple[Op, Call]] | None = None
) -> Iterator[Violation]:
    """The parts of a function, or of what must be a SeqExpr, that are not in normal form, in order.

    The calls of operators on the way are added to `calls`.
    """
    pending: list[tuple[Expr, Node | None]] = [(expr, None)]
    while pending:
        seq, holder = pending.pop()
        if isinstance(seq, Function):
            pending.append((seq.body, seq))
        elif not isinstance(seq, SeqExpr):
            where = "a branch" if isinstance(holder, If) else "the body of a function"
            yield _violation(f"{where} is {_kind(seq)}, not a SeqExpr", seq, holder)
        else:
            yield from _blocks(seq)
            inner: list[tuple[Expr, Node]] = []
            for binding in (b for block in seq.blocks for b in block.bindings):
                value = binding.value
                if not _is_call_of_leaves(value):
                    yield from _value(value, binding)
                    inner.extend(_bodies(value))
                if calls is not None and isinstance(value, Call) and isinstance(value.op, Op):
                    calls.append((value.op, value))
            yield from _operand(seq.body, seq)
            pending.extend(reversed(inner))


def _blocks(seq: SeqExpr) -> Iterator[Violation]:
    """Rule 4: blocks have bindings, and neighbours are of two kinds."""
    before: type[BindingBlock] | None = None
    for block in seq.blocks:
        name = "dataflow" if isinstance(block, DataflowBlock) else "binding"
        if not block.bindings:
            yield _violation(f"a {name} block is empty", block, seq)
        elif type(block) is before:
            yield _violation(f"a {name} block follows another and is not one with it", block, seq)
        before = type(block)


def _is_call_of_leaves(value: Expr) -> bool:
    """True for what most bindings of most programs have: then there is nothing else to ask."""
    if not isinstance(value, Call) or not isinstance(value.op, Op):
        return False
    return all(isinstance(arg, LeafExpr) and arg.__class__ is not Tuple for arg in value.args)


def _value(value: Expr, within: Node) -> Iterator[Violation]:
    """Rules 1 and 2: what is bound is a leaf, or has nothing but leaves for its parts."""
    if isinstance(value, SeqExpr):
        message = "a SeqExpr is the body of a function or a branch, and cannot be bound"
        yield _violation(message, value, within)
    elif isinstance(value, BaseFunc) and not isinstance(value, Function):
        message = "a PrimFunc is a function of the module, and cannot be bound"
        yield Violation("RX0325", message, value, within, "bind the GlobalVar that stands for it")
    operands: tuple[Expr, ...] = ()
    match value:
        case Call(op, args):
            operands = args if isinstance(op, Op) else (op, *args)
        case Tuple(fields):
            operands = fields
        case TupleGetItem(tuple_value):
            operands = (tuple_value,)
        case If(cond):
            operands = (cond,)
    for operand in operands:
        yield from _operand(operand, value)


def _operand(expr: Expr, within: Node) -> Iterator[Violation]:
    pending = [(expr, within)]
    while pending:
        part, outer = pending.pop()
        if isinstance(part, Tuple):
            pending.extend((field, part) for field in reversed(part.fields))
        elif not isinstance(part, LeafExpr):
            place = _PLACES.get(type(outer), "an operand")
            message = f"{_kind(part)} is {place}, not bound to a variable"
            yield _violation(message, part, outer)


def _bodies(value: Expr) -> list[tuple[Expr, Node]]:
    match value:
        case If(true_branch=yes, false_branch=no):
            return [(yes, value), (no, value)]
        case Function(body=body):
            return [(body, value)]
    return []


def _kind(expr: Expr) -> str:
    return _KINDS.get(type(expr), "a value")


def _violation(message: str, node: Node, within: Node | None) -> Violation:
    return Violation("RX0325", message, node, within, _HELP)
