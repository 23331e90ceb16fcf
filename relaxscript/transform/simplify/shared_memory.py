"""Values that are one memory, and what may be written there.

Tensors are values as long as nobody writes into them. Packed functions, closures and calls in place
may; and two results that a function returns are two arrays, of which a caller may change one.
Whoever merges or replaces values asks here first. The order of bindings is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable

from relaxscript.ir import prim
from relaxscript.ir.intrinsic import lookup
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import (
    Binding,
    Call,
    Expr,
    Function,
    GlobalVar,
    If,
    Op,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.struct_info import PrimStructInfo, ShapeStructInfo
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.walk import compounds, walk
from relaxscript.op import Trait, traits_of
from relaxscript.semantics.prim_funcs import writes_into_operands

__all__ = ["SharedMemory", "only_computes"]

# Calls that may write into operands or results, or keep hold of them.
_EXPOSES = frozenset({
    Trait.ALLOCATES, Trait.CALLS_OUT, Trait.CAPTURES, Trait.FREES, Trait.IMPURE, Trait.IN_STORAGE,
    Trait.WRITES_ARGS,
})  # fmt: skip
_SHARES = frozenset({Trait.VIEW, Trait.AS_IS})


class SharedMemory:
    """The variables of a function, by the memory that they may share.

    Where nothing is known, variables share and others write: what is given to a function may be
    kept there, returned, and changed.
    """

    def __init__(self, func: Function, mod: IRModule) -> None:
        self._mod = mod
        self._same: dict[Var, Var] = {}
        self._writers: dict[GlobalVar, bool] = {}
        exposed: list[Var] = []
        for node in compounds(func):
            match node:
                case Binding(var=var, value=value):
                    exposed += self._binding(var, value)
                case Function(params=params, body=body) if node is not func:
                    exposed += (*params, *_variables(body))
        self._exposed = {self._memory(var) for var in exposed}
        self._returned = {self._memory(var) for var in _variables(func.body)}

    def is_exposed(self, var: Var) -> bool:
        """True if something may write into the memory of a variable, or hold it for itself."""
        return self._memory(var) in self._exposed

    def is_returned(self, var: Var) -> bool:
        """True if the function may return the memory of a variable."""
        return self._memory(var) in self._returned

    def merge(self, one: Var, other: Var) -> None:
        """Note that two variables are one value from now on."""
        returned = self.is_returned(one) or self.is_returned(other)
        self._share(one, [other])
        if returned:
            self._returned.add(self._memory(one))

    def _binding(self, var: Var, value: Expr) -> list[Var]:
        """Note what a variable shares; gives what becomes known outside."""
        match value:
            case Call(op=Op() as op):
                return self._operator(var, value, traits_of(op))
            case Call():
                return [var, *_variables(value.op), *_variables(*value.args)]
            case If(true_branch=yes, false_branch=no):
                self._share(var, _variables(yes, no))
            case Function():
                pass
            case _:
                self._share(var, _variables(value))
        return []

    def _operator(self, var: Var, call: Call, traits: frozenset[Trait]) -> list[Var]:
        if traits & _EXPOSES:
            return [var, *_variables(*call.args)]
        if Trait.CALLS_PRIM_FUNC in traits:
            callee = call.args[0]
            if not isinstance(callee, GlobalVar) or self._writes(callee, call):
                return [var, *_variables(*call.args)]
        elif traits & _SHARES and not isinstance(
            var.struct_info, (PrimStructInfo, ShapeStructInfo)
        ):
            self._share(var, _variables(*call.args))
        return []

    def _writes(self, callee: GlobalVar, call: Call) -> bool:
        # The calls of a PrimFunc have as many results as it has.
        if callee not in self._writers:
            function = self._mod.functions.get(callee)
            self._writers[callee] = not isinstance(function, PrimFunc) or (
                writes_into_operands(function, call)
            )
        return self._writers[callee]

    def _share(self, var: Var, others: Iterable[Var]) -> None:
        for other in others:
            mine, theirs = self._memory(var), self._memory(other)
            if mine is not theirs:
                self._same[theirs] = mine

    def _memory(self, var: Var) -> Var:
        """The variable that stands for all that share its memory."""
        while var in self._same:
            above = self._same[var]
            if above in self._same:
                self._same[var] = self._same[above]
            var = above
        return var


def only_computes(function: PrimFunc, call: Call) -> bool:
    """True if a PrimFunc writes its results, and has no other effects."""
    calls = (node.op for node in walk(function.body) if isinstance(node, prim.Call))
    found = [lookup(op) for op in calls]
    pure = all(intrinsic is not None and intrinsic.is_pure for intrinsic in found)
    return pure and not writes_into_operands(function, call)


def _variables(*exprs: Expr) -> list[Var]:
    """The variables whose values, or parts of these, an expression is, or a block ends with."""
    found: list[Var] = []
    todo = list(exprs)
    while todo:
        match todo.pop():
            case Var() as var:
                found.append(var)
            case Tuple(fields=fields):
                todo += fields
            case TupleGetItem(tuple_value=whole):
                todo.append(whole)
            case SeqExpr(body=body):
                todo.append(body)
    return found
