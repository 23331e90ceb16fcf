"""EliminateCommonSubexpr: what was computed is not computed again."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from relaxscript.arith import YES
from relaxscript.builder import ExprMutator
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import IntImm
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.structural_hashing import structural_hash
from relaxscript.ir.tir import PrimFunc
from relaxscript.op import Trait, traits_of
from relaxscript.op.calls import call_tir, call_tir_with_grad
from relaxscript.sinfo import definable_shape_vars, is_subtype
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass

from .shared_memory import SharedMemory, only_computes

__all__ = ["EliminateCommonSubexpr"]

_PRIM_FUNC_CALLS = (call_tir.op, call_tir_with_grad.op)
# Calls whose results are more than their elements, or whose callee is unknown.
_STAY = frozenset({
    Trait.ALLOCATES, Trait.CALLS_OUT, Trait.CALLS_PRIM_FUNC, Trait.CAPTURES, Trait.FREES,
    Trait.IMPURE, Trait.IN_STORAGE, Trait.OWN_TENSORS, Trait.WRITES_ARGS,
})  # fmt: skip


class EliminateCommonSubexpr(FunctionPass):
    """Replace what was computed before, and is still known, by the variable that has it.

    Before:

        a = R.add(x, y)
        b = R.add(x, y)
        c = R.multiply(a, b)

    After:

        a = R.add(x, y)
        b = a
        c = R.multiply(a, a)

    Calls of operators and of PrimFuncs are looked at, and unless `call_only`, tuples, their fields,
    shapes, scalars and casts. What is replaced becomes another name, which `CanonicalizeBindings`
    removes. Behind its dataflow block, an output goes by its own name. Not
    merged are calls with effects, of packed functions, or of other Relax functions. Two tensors
    stay two where something may write into one, or where a function returns both. A branch or local
    function has what it computes for itself.

    Raises `TypeError` where `call_only` is no bool.
    Source: TVM `relax.transform.EliminateCommonSubexpr`.
    """

    opt_level = 1

    def __init__(self, call_only: bool = False) -> None:
        self.call_only = call_only

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        return _Eliminator(mod, func, self.call_only).function(func)


_Table = dict[Hashable, list[tuple[Binding, Var]]]


class _Eliminator(ExprMutator):
    """Goes through one function; `tables` has what each open function and branch computed."""

    def __init__(self, mod: IRModule, func: Function, call_only: bool) -> None:
        super().__init__(mod)
        self.call_only = call_only
        self.root = func
        self.memory: SharedMemory | None = None
        self.tables: list[list[_Table]] = []
        self.only_computes: dict[GlobalVar, bool] = {}
        # Outputs of the dataflow block at hand that have another name in it.
        self.outputs: list[Var] = []

    # -- scopes ------------------------------------------------------------------------------------

    def begin(self, func: Function) -> None:
        self.tables.append([{}])  # what a local function computes, it computes when it is called

    def end_scope(self, node: Function | SeqExpr) -> None:
        super().end_scope(node)
        if isinstance(node, Function):
            self.tables.pop()

    def begin_branch(self, choice: If, taken: bool) -> None:
        super().begin_branch(choice, taken)
        self.tables[-1].append({})

    def end_branch(self, choice: If, taken: bool) -> None:
        super().end_branch(choice, taken)
        self.tables[-1].pop()

    def leave(self, node: Node) -> None:
        super().leave(node)
        if isinstance(node, DataflowBlock):
            for var in self.outputs:
                self.replace_var(var, var)
            self.outputs = []

    # -- bindings ----------------------------------------------------------------------------------

    def binding(self, binding: Binding) -> None:
        if not self._is_candidate(binding):
            super().binding(binding)
            return
        key = _key(binding)
        for table in self.tables[-1]:
            for known, var in table.get(key, ()):
                if _is_same(known, binding) and self._merge(binding, var):
                    return
        super().binding(binding)
        written = self._replaced.get(binding.var, binding.var)
        self.tables[-1][-1].setdefault(key, []).append((binding, written))

    def _is_candidate(self, binding: Binding) -> bool:
        value = binding.value
        if isinstance(binding, MatchCast):
            return not self.call_only and not definable_shape_vars(binding.struct_info)
        match value:
            case Call(op=Op() as op, args=args):
                traits = traits_of(op)
                if op in _PRIM_FUNC_CALLS:
                    return isinstance(args[0], GlobalVar) and self._only_computes(args[0], value)
                return not traits & _STAY
            case Tuple() | TupleGetItem() | ShapeExpr() | PrimValue():
                return not self.call_only
        return False

    def _only_computes(self, callee: GlobalVar, call: Call) -> bool:
        found = self.only_computes.get(callee)
        if found is None:
            function = self.mod.functions.get(callee)
            found = isinstance(function, PrimFunc) and only_computes(function, call)
            self.only_computes[callee] = found
        return found

    def _merge(self, binding: Binding, known: Var) -> bool:
        """Use `known` in the place of a binding; False where it is not the same to everybody."""
        var, value = binding.var, binding.value
        if isinstance(known, DataflowVar) and known not in self.variables:
            return False
        if isinstance(value, Call) and not self._may_be_one(var, known, value):
            return False
        mine, theirs = self.builder.struct_info(var), self.builder.struct_info(known)
        if is_subtype(theirs, mine) is not YES or self._mentions_replaced(binding):
            return False
        self.rebind(binding, known)
        if structural_equal(mine, theirs):
            self.replace_var(var, known)
            if self.builder.current_block_is_dataflow() and not isinstance(var, DataflowVar):
                self.outputs.append(var)
        return True

    def _may_be_one(self, var: Var, known: Var, call: Call) -> bool:
        """True if nobody can tell two results from one that is used twice."""
        if self.memory is None:
            self.memory = SharedMemory(self.root, self.mod)
        memory = self.memory
        if memory.is_returned(var) and memory.is_returned(known):
            return False
        used = (var, known, *_variables(call))
        if any(memory.is_exposed(each) for each in used):
            return False
        memory.merge(known, var)
        return True


def _variables(call: Call) -> list[Var]:
    fields = (f for arg in call.args for f in (arg.fields if isinstance(arg, Tuple) else (arg,)))
    return [field for field in fields if isinstance(field, Var)]


# -- keys ------------------------------------------------------------------------------------------

# A constant of so many is its own key. To hash a number takes longer than all else here.
_FEW_BYTES = 64


def _is_same(known: Binding, binding: Binding) -> bool:
    if isinstance(known, MatchCast) and isinstance(binding, MatchCast):
        alike = structural_equal(known.struct_info, binding.struct_info)
        return alike and structural_equal(known.value, binding.value)
    return known.value is binding.value or structural_equal(known.value, binding.value)


def _key(binding: Binding) -> Hashable:
    """The key of a value: equal for values that are equal, and seldom for others."""
    if isinstance(binding, MatchCast):
        return MatchCast, _operand_key(binding.value), _info_key(binding.struct_info)
    expr = binding.value
    match expr:
        case Call(op=op, args=args, attrs=attrs, sinfo_args=infos):
            names = None if attrs is None else tuple(map(_attribute_key, attrs.items()))
            return op, tuple(map(_operand_key, args)), names, tuple(map(_info_key, infos))
        case Tuple(fields=fields):
            return Tuple, tuple(map(_operand_key, fields))
        case TupleGetItem(tuple_value=whole, index=index):
            return TupleGetItem, _operand_key(whole), index
    return structural_hash(expr)


def _operand_key(expr: Expr) -> Hashable:
    if isinstance(expr, (Var, GlobalVar)):
        return expr
    if isinstance(expr, Tuple):
        return tuple(map(_operand_key, expr.fields))
    if isinstance(expr, Constant) and expr.data.nbytes <= _FEW_BYTES:
        return expr.data.dtype.str, expr.data.shape, expr.data.tobytes()
    return structural_hash(expr)


def _attribute_key(item: tuple[str, Any]) -> Hashable:
    name, value = item
    if isinstance(value, (Node, Attrs)):
        return name, structural_hash(value) if isinstance(value, Node) else len(value)
    return name, repr(value)


def _info_key(info: StructInfo) -> Hashable:
    if isinstance(info, TensorStructInfo) and info.dims is not None:
        dims = info.dims
        if all(isinstance(dim, IntImm) for dim in dims):
            return info.dtype, tuple([dim.value for dim in dims])  # type: ignore[attr-defined]
    return structural_hash(info)
