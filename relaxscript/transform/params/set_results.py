"""Functions that hand each of their results to a callback as soon as it is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Binding,
    BindingBlock,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    MatchCast,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
    remember_struct_info,
)
from relaxscript.ir.struct_info import StructInfo, TupleStructInfo
from relaxscript.ir.walk import defined_by
from relaxscript.transform.normalize.to_non_dataflow import to_non_dataflow

from .joined_blocks import joined_blocks
from .weight_bindings import used_by, uses_of

__all__ = ["has_results", "with_set"]

_UNIT = TupleStructInfo.make(())
# Before all bindings.
_START = -1


def has_results(function: Function) -> bool:
    """True if a function gives anything but an empty tuple."""
    info = function.ret_struct_info
    return not (isinstance(info, TupleStructInfo) and not info.fields)


def with_set(function: Function, put: Callable[[int, Expr], Expr], info: StructInfo) -> Function:
    """The impure function that gives nothing, and calls `put` with each result and its position.

    The results are the fields of what the function returns, where that is a tuple, or else that.
    Each is put right behind the binding that computes it, one that is a parameter before all
    others. Dataflow blocks become ordinary ones where results are computed inside of them,
    unless the last binding computes all. The value of `put` has the StructInfo `info`.
    """
    results = _Results(function)
    if results.are_in_dataflow():
        function = to_non_dataflow(function)
        results = _Results(function)
    calls: dict[int, list[Binding]] = {}
    for index, value in enumerate(results.values):
        written = calls.setdefault(results.place(value), [])
        if isinstance(value, TupleGetItem):
            field = Var.make("result", results.fields[value.index])
            written.append(VarBinding.make(field, value))
            value = field
        call = put(index, value)
        remember_struct_info(call, info)
        written.append(VarBinding.make(Var.make("_", info), call))
    body = results.body.replace(blocks=results.blocks(calls), body=Tuple.make(()), body_span=None)
    return function.replace(body=body, ret_struct_info=_UNIT, is_pure=False)


class _Results:
    """The results of a function, and the bindings that compute them, by their numbers."""

    def __init__(self, function: Function) -> None:
        assert isinstance(function.body, SeqExpr)
        self.body = function.body
        self._bindings = [b for block in self.body.blocks for b in block.bindings]
        self._numbers: dict[Node, int] = {}
        for number, binding in enumerate(self._bindings):
            cast = (binding.struct_info,) if isinstance(binding, MatchCast) else ()
            for var in defined_by(binding, (binding.var, *cast)):
                self._numbers.setdefault(var, number)
        value, info = self.body.body, function.ret_struct_info
        if isinstance(value, Var):
            info = value.struct_info
        self.fields = info.fields if isinstance(info, TupleStructInfo) else ()
        self._dropped: Binding | None = None
        self.values = self._values(value, isinstance(info, TupleStructInfo))

    def _values(self, value: Expr, is_tuple: bool) -> list[Expr]:
        if not is_tuple or isinstance(value, Tuple):
            return list(value.fields) if isinstance(value, Tuple) else [value]
        number = self._numbers.get(value)
        found = None if number is None else self._bindings[number]
        if isinstance(found, VarBinding) and isinstance(found.value, Tuple):
            # To hold the tuple would hold all of them to the end.
            others = (uses_of(b) for b in self._bindings if b is not found)
            self._dropped = None if any(value in used for used in others) else found
            return list(found.value.fields)
        return [TupleGetItem.make(value, i) for i in range(len(self.fields))]

    def place(self, value: Expr) -> int:
        """The number of the binding behind which a result is there."""
        return max((self._numbers.get(v, _START) for v in used_by(value)), default=_START)

    def are_in_dataflow(self) -> bool:
        """True if a dataflow block goes on where a result is there, or keeps it to itself."""
        places = {self.place(value) for value in self.values}
        number = _START
        for block in self.body.blocks:
            first, number = number + 1, number + len(block.bindings)
            if isinstance(block, DataflowBlock) and not places.isdisjoint(range(first, number)):
                return True
        used = (v for value in self.values for v in used_by(value))
        return any(isinstance(v, DataflowVar) for v in used)

    def blocks(self, calls: Mapping[int, list[Binding]]) -> tuple[BindingBlock, ...]:
        """The blocks of the body, with these bindings behind those of the numbers."""
        made = [BindingBlock.make(tuple(calls.get(_START, ())))]
        number = _START
        for block in self.body.blocks:
            bindings: list[Binding] = []
            behind: list[Binding] = []
            for binding in block.bindings:
                number += 1
                if binding is not self._dropped:
                    bindings.append(binding)
                own = calls.get(number, ())
                (behind if isinstance(block, DataflowBlock) else bindings).extend(own)
            made.append(block.replace(bindings=tuple(bindings)))
            made.append(BindingBlock.make(tuple(behind)))
        return joined_blocks(made)
