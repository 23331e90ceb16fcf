"""The values of a dataflow block that are wanted in float16 only.

A block is read from its end. Products want float16. What follows its operands wants of them what
others want of it. All else wants values as they are, and so does what comes behind the block. A
value that some want in float16 and some as it is stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping

from relaxscript.ir.relax import (
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    MatchCast,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.walk import mentioned

from .precision_policy import Policy, is_single, policy_of

__all__ = ["half_values"]

# How a value is wanted; what is wanted of a tuple is said by the way to its fields.
_IN_HALF, _AS_IT_IS = 1, 2
_Wanted = Mapping[tuple[int, ...], int]


def half_values(block: DataflowBlock) -> frozenset[Var]:
    """The tensors of float32 that a block mentions and wants in float16 only."""
    uses = _Uses()
    for binding in reversed(block.bindings):
        var, value = binding.var, binding.value
        if not isinstance(var, DataflowVar):
            uses.add(var, {(): _AS_IT_IS})
        wanted = uses.found.get(var, {})
        if isinstance(binding, MatchCast):
            uses.add_mentioned(value)
        elif isinstance(value, Call):
            uses.add_call(value, policy_of(value, var.struct_info), max(wanted.values(), default=0))
        else:
            uses.add(value, wanted)
    return frozenset(
        var
        for var, wanted in uses.found.items()
        if is_single(var.struct_info) and max(wanted.values(), default=0) == _IN_HALF
    )


class _Uses:
    """The ways in which each variable is wanted so far."""

    def __init__(self) -> None:
        self.found: dict[Var, dict[tuple[int, ...], int]] = {}

    def add(self, expr: Expr, wanted: _Wanted) -> None:
        """Note that a value which is no call is wanted so."""
        todo = [(expr, wanted)]
        while todo:
            expr, wanted = todo.pop()
            match expr:
                case Var():
                    known = self.found.setdefault(expr, {})
                    for path, how in wanted.items():
                        known[path] = max(how, known.get(path, 0))
                case Tuple(fields):
                    todo += zip(fields, _of_fields(wanted, len(fields)), strict=True)
                case TupleGetItem(tuple_value=whole, index=index):
                    todo.append((whole, {(index, *path): how for path, how in wanted.items()}))
                case _ if wanted:
                    self.add_mentioned(expr)

    def add_mentioned(self, expr: Expr) -> None:
        """Note that all that an expression mentions is wanted as it is."""
        for var in mentioned(expr):
            self.add(var, {(): _AS_IT_IS})

    def add_call(self, call: Call, policy: Policy, wanted: int) -> None:
        """Note what a call wants, whose result is wanted so."""
        if policy is Policy.NARROW:
            return
        if policy is Policy.NEVER:
            self.add_mentioned(call)
            return
        how = _IN_HALF if policy is Policy.ALWAYS else wanted
        if how:
            for arg in call.args:
                self.add(arg, {(): how})


def _of_fields(wanted: _Wanted, count: int) -> list[_Wanted]:
    """The ways in which each field is wanted of a tuple that is wanted so."""
    found: list[dict[tuple[int, ...], int]] = [{} for _ in range(count)]
    for path, how in wanted.items():
        for field in found[path[0] : path[0] + 1] if path else found:
            field[path[1:]] = max(how, field.get(path[1:], 0))
    return [*found]
