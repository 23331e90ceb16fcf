"""Uses of values after a call has written into them.

`R.call_tir_inplace` and `R.call_inplace_packed` count as pure, though they write into arguments.
Therefore nobody may look at such an argument afterwards, nor at an alias of it. An alias is what
certainly is the same tensor: another name, a field of a tuple that holds it, a closure that
captures it. What other functions and operators return or keep is not followed. Source: spec
"Notable Operators".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from relaxscript.errors import Span
from relaxscript.ir import walk
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Binding,
    Call,
    Expr,
    Function,
    If,
    LeafExpr,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.op import Trait, lookup, traits_of
from relaxscript.op.inplace import call_tir_inplace
from relaxscript.op.results import inplace_indices
from relaxscript.visitor import ScopedVisitor

__all__ = ["UseAfterWrite", "uses_after_write", "writer_name", "writes_in_place"]

# Which memory a value is: a variable and the fields that lead on from there; or, for a tuple that
# is written out and for what a closure captures, that of each part.
_Place = tuple[Any, ...]
_Held = _Place | list[Any]

# Comes before a place of which only a part was written to.
_PART_OF = "part of"


class UseAfterWrite(NamedTuple):
    """A use of `var` in `within`, at `span` if that is known, after `call` wrote into it."""

    var: Var
    within: Node
    span: Span | None
    call: Call


def writes_in_place(call: Call) -> bool:
    """True if a call writes into arguments that it is given."""
    return Trait.WRITES_ARGS in traits_of(call.op)


def writer_name(call: Call) -> str:
    """The operator of such a call by its name in scripts."""
    return repr(lookup(call.op))  # type: ignore[arg-type]


def uses_after_write(function: Function) -> list[UseAfterWrite]:
    """Every use of what was written to before, in the order of the program."""
    search = _UseAfterWriteChecker()
    search.visit(function)
    return search.found


class _UseAfterWriteChecker(ScopedVisitor):
    """Goes through a function in normal form, in the order of evaluation."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[UseAfterWrite] = []
        self._held: dict[Var, _Held] = {}
        # What was written to, and by which call.
        self._written: dict[_Place, Call] = {}
        # What was written to before each open branch and function.
        self._before: list[dict[_Place, Call]] = []

    # -- the program, step by step -----------------------------------------------------------------

    def enter(self, node: Node) -> bool | None:
        match node:
            case Call():
                self._call(node)
                return False
            case Binding():
                return self._binding(node)
            case If(cond):
                self._use(cond, node, node.span)
        return None

    def _binding(self, binding: Binding) -> bool | None:
        """Another name is no use: only what is done with it is."""
        match binding.value:
            case LeafExpr() | TupleGetItem():
                self._held[binding.var] = self._of(binding.value)
                return False
            case Function():
                free = walk.free_vars(binding.value)
                captured = [var for var in free if isinstance(var, Var) and var is not binding.var]
                self._held[binding.var] = [self._of(var) for var in captured]
        return None

    def begin_scope(self, node: Function | SeqExpr) -> None:
        if isinstance(node, Function):
            self._before.append(dict(self._written))

    def end_scope(self, node: Function | SeqExpr) -> None:
        if isinstance(node, Function):
            self._written = self._before.pop()
        else:
            self._use(node.body, node, node.body_span)

    def begin_branch(self, choice: If, taken: bool) -> None:
        """Both branches start from the same."""
        if taken:
            self._before.append(dict(self._written))

    def end_branch(self, choice: If, taken: bool) -> None:
        """Behind an `if`, all is written to that either branch wrote to."""
        if taken:
            first, self._written = self._written, dict(self._before[-1])
            self._before[-1] |= first
        else:
            self._written |= self._before.pop()

    def _call(self, call: Call) -> None:
        if Trait.FREES in traits_of(call.op):
            return
        self._use(call.op, call, call.span)
        spans = call.arg_spans or (None,) * len(call.args)
        for arg, span in zip(call.args, spans):
            self._use(arg, call, span)
        if not writes_in_place(call):
            return
        tupled = call.op == call_tir_inplace.op
        held = self._of(call.args[1] if tupled else Tuple.make(call.args[1:]))
        for index in inplace_indices(call):
            if index >= 0:
                for place in _places(_field(held, index)):
                    self._written[place] = call
                    for length in range(1, len(place)):
                        self._written[(_PART_OF, *place[:length])] = call

    # -- values ------------------------------------------------------------------------------------

    def _of(self, expr: Expr) -> _Held:
        """The memory that a leaf, or a field of one, is."""
        match expr:
            case Var():
                return self._held.get(expr, (expr,))
            case Tuple(fields):
                return [self._of(field) for field in fields]
            case TupleGetItem(value, index):
                return _field(self._of(value), index)
        return []

    def _writer(self, held: _Held) -> Call | None:
        """The call that wrote into a value, or into a part of it."""
        for place in _places(held):
            prefixes = (place[:length] for length in range(1, len(place) + 1))
            for known in (*prefixes, (_PART_OF, *place)):
                if known in self._written:
                    return self._written[known]
        return None

    def _use(self, expr: Expr, within: Node, span: Span | None) -> None:
        match expr:
            case Tuple(fields):
                spans = expr.field_spans or (None,) * len(fields)
                for field, at in zip(fields, spans):
                    self._use(field, expr, at or span)
            case Var() as var:
                self._report(var, expr, within, span)
            case TupleGetItem(tuple_value=Var() as var):
                self._report(var, expr, expr, span or expr.span)

    def _report(self, var: Var, used: Expr, within: Node, span: Span | None) -> None:
        writer = self._writer(self._of(used))
        if writer is not None:
            self.found.append(UseAfterWrite(var, within, span, writer))


def _field(held: _Held, index: int) -> _Held:
    if isinstance(held, tuple):
        return (*held, index)
    field: _Held = held[index] if index < len(held) else []
    return field


def _places(held: _Held) -> Iterator[_Place]:
    if isinstance(held, tuple):
        yield held
    else:
        for part in held:
            yield from _places(part)
