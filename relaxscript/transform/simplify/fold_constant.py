"""FoldConstant: what depends on constants only is computed while compiling."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from relaxscript.arith import YES
from relaxscript.builder import ExprMutator
from relaxscript.errors import DiagnosticError, VMError
from relaxscript.ir import prim
from relaxscript.ir.constant_array import given_up, in_c_order
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import (
    Binding,
    Call,
    Constant,
    DataTypeImm,
    Expr,
    Function,
    GlobalVar,
    Op,
    PrimValue,
    ShapeExpr,
    StringImm,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import (
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.walk import compounds
from relaxscript.op import Trait, traits_of
from relaxscript.op.calls import call_tir, call_tir_with_grad
from relaxscript.op.manipulate.axes import permute_dims
from relaxscript.runtime.values import Shape, make_prim, prim_dtype, prim_value
from relaxscript.semantics.operators import operator_function
from relaxscript.semantics.prim_funcs import (
    assemble_results,
    call_tir_adapter,
    result_struct_infos,
)
from relaxscript.sinfo import is_subtype
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass

from .shared_memory import SharedMemory, only_computes

__all__ = ["FoldConstant"]

# Calls that are not only computation, that nobody may foresee, or that say what runs where.
_STAY = frozenset({
    Trait.ALLOCATES, Trait.AS_IS, Trait.CALLS_OUT, Trait.CALLS_PRIM_FUNC, Trait.CAPTURES,
    Trait.FREES, Trait.IMPURE, Trait.IN_STORAGE, Trait.OWN_TENSORS, Trait.RANDOM,
    Trait.WRITES_ARGS,
})  # fmt: skip
_PRIM_FUNC_CALLS = (call_tir.op, call_tir_with_grad.op)
_MOST_BYTES = 1 << 24


class FoldConstant(FunctionPass):
    """Replace calls of operators and PrimFuncs on constants by what they compute.

    Before:

        a = R.add(R.const([1.0, 2.0]), R.const([3.0, 4.0]))
        b = R.call_tir(cls.double, (a,), R.Tensor((2,), "float32"))
        c = R.multiply(x, b)

    After:

        a = R.const([4.0, 6.0])
        b = R.const([8.0, 12.0])
        c = R.multiply(x, b)

    Operators are computed by their meaning, PrimFuncs by `PassContext.evaluate`, both as the
    program would. What would fail stays, and fails when it runs. Calls of packed functions and of
    random operators stay. So does what has effects, is on a device, or may be written into.
    Results of more than 16 MiB are computed only if an operand is as large. The option
    `relax.FoldConstant.max_bytes` says another bound. PrimFuncs that are called no more go by
    `DeadCodeElimination`.

    Source: TVM `relax.transform.FoldConstant`.
    """

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        if not _may_fold(func):
            return func
        return _Folder(mod, func, ctx).function(func)


def _may_fold(func: Function) -> bool:
    """True if a call has no operand but constants, as far as can be seen at a glance."""
    known: set[Expr] = set()
    for node in compounds(func):
        if isinstance(node, Binding):
            value = node.value
            if isinstance(value, Call):
                if isinstance(value.op, Op) and all(_is_known(arg, known) for arg in value.args):
                    return True
            elif _is_known(value, known):
                known.add(node.var)
    return False


def _is_known(expr: Expr, known: set[Expr]) -> bool:
    match expr:
        case Var():
            return expr in known
        case Tuple(fields=fields):
            return all(_is_known(field, known) for field in fields)
        case TupleGetItem(tuple_value=whole):
            return _is_known(whole, known)
    return not isinstance(expr, (Call, Function))


_Value = Any
_UNKNOWN = object()


class _Folder(ExprMutator):
    """Goes through one function; `known` are the values of variables."""

    def __init__(self, mod: IRModule, func: Function, ctx: PassContext) -> None:
        super().__init__(mod)
        self.memory = SharedMemory(func, mod)
        self.context = ctx
        self.most_bytes = ctx.config.get("relax.FoldConstant.max_bytes", _MOST_BYTES)
        self.known: dict[Expr, _Value] = {}
        self.ordered: list[Any] = []  # held, so that each is made once

    def binding(self, binding: Binding) -> None:
        if not isinstance(binding, VarBinding):
            super().binding(binding)
            return
        value = binding.value
        found = self._call(value) if isinstance(value, Call) else self._leaf(value)
        if isinstance(value, Call) and found is not _UNKNOWN:
            made = _as_expr(found)
            declared = self._replaced.apply(binding.var.struct_info)
            if made is None or is_subtype(self.builder.struct_info(made), declared) is not YES:
                found = _UNKNOWN
            else:
                self.rebind(binding, made)
        if not isinstance(value, Call) or found is _UNKNOWN:
            super().binding(binding)
        if found is not _UNKNOWN and not self.memory.is_exposed(binding.var):
            self.known[binding.var] = found

    def _leaf(self, expr: Expr) -> _Value:
        """The value of an operand; _UNKNOWN where it is not known now."""
        match expr:
            case Var():
                return self.known.get(expr, _UNKNOWN)
            case Constant(data=data):
                return data
            case Tuple(fields=fields):
                values = tuple([self._leaf(field) for field in fields])
                return _UNKNOWN if any(v is _UNKNOWN for v in values) else values
            case TupleGetItem(tuple_value=whole, index=index):
                held = self._leaf(whole)
                return _UNKNOWN if held is _UNKNOWN else held[index]
            case ShapeExpr(values=dims) if all(isinstance(dim, prim.IntImm) for dim in dims):
                return Shape(dim.value for dim in dims)  # type: ignore[attr-defined]
            case PrimValue(value=prim.IntImm() | prim.FloatImm() as number):
                return make_prim(number.value, number.dtype)
            case StringImm(value=value) | DataTypeImm(value=value):
                return value
        return _UNKNOWN

    def _call(self, call: Call) -> _Value:
        """The result of a call; _UNKNOWN where it does not only compute, or where it fails."""
        if not isinstance(call.op, Op):
            return _UNKNOWN
        calls_prim_func = call.op in _PRIM_FUNC_CALLS
        if not calls_prim_func and traits_of(call.op) & _STAY:
            return _UNKNOWN
        operands = call.args[1:] if calls_prim_func else call.args
        values = [self._leaf(arg) for arg in operands]
        if any(value is _UNKNOWN for value in values):
            return _UNKNOWN
        try:
            if not self._is_small(self.builder.struct_info(call), values):
                return _UNKNOWN
            if call.op is permute_dims.op and isinstance(values[0], np.ndarray):
                return values[0].transpose(permute_dims.attributes(call)["axes"])
            values = [self._in_c_order(value) for value in values]
            if calls_prim_func:
                return self._prim_func(call, values)
            return operator_function(call, checked=True)(*values)
        except (VMError, DiagnosticError):  # it fails as the program does, if that comes to it
            return _UNKNOWN

    def _in_c_order(self, value: _Value) -> _Value:
        """A value whose tensors are as the program has them, on which their sums depend."""
        if type(value) is tuple:
            return tuple([self._in_c_order(item) for item in value])
        if not isinstance(value, np.ndarray) or value.flags.c_contiguous:
            return value
        ordered = in_c_order(value)
        self.ordered.append(ordered)
        return ordered

    def _is_small(self, result: StructInfo, values: Sequence[_Value]) -> bool:
        """True if a result is known to be on the host and small, or no larger than an operand."""
        size = _bytes_of(result)
        return size is not None and size <= max(self.most_bytes, *map(_largest, values), 0)

    def _prim_func(self, call: Call, values: Sequence[_Value]) -> _Value:
        callee = call.args[0]
        function = (
            self.mod[callee] if isinstance(callee, GlobalVar) and callee in self.mod else None
        )
        if not isinstance(function, PrimFunc) or not only_computes(function, call):
            return _UNKNOWN
        info = self.builder.struct_info(call)
        results = [np.zeros(_sizes(i), i.dtype.numpy) for i in result_struct_infos(info)]
        given, *shape = values
        name = callee.name_hint  # type: ignore[attr-defined]

        def run(*args: Any) -> None:
            self.context.evaluate(self.mod, name, args)

        call_tir_adapter(function, run)(*map(np.asarray, given), *shape, *results)
        return assemble_results(info, results)


def _sizes(info: TensorStructInfo) -> tuple[int, ...]:
    return tuple([dim.value for dim in info.dims or ()])  # type: ignore[attr-defined]


def _bytes_of(info: StructInfo) -> int | None:
    """The bytes of what is known as `info`; None where that is not known, or not on the host."""
    match info:
        case PrimStructInfo() | ShapeStructInfo():
            return 0
        case TupleStructInfo(fields=fields):
            sizes = [_bytes_of(field) for field in fields]
            return None if None in sizes else sum(sizes)  # type: ignore[arg-type]
        case TensorStructInfo(dtype=dtype, dims=dims, vdevice=None) if dims is not None:
            if dtype != "void" and all(isinstance(dim, prim.IntImm) for dim in dims):
                return prod(_sizes(info)) * dtype.numpy.itemsize
    return None


def _largest(value: _Value) -> int:
    """The bytes of the largest tensor in a value."""
    if isinstance(value, tuple):
        return max(map(_largest, value), default=0)
    return value.nbytes if isinstance(value, np.ndarray) else 0


def _as_expr(value: _Value) -> Expr | None:
    """A value as an expression that gives it; None for what no script can say."""
    match value:
        case np.ndarray():
            return Constant(given_up(value))
        case Shape():
            return ShapeExpr.make(tuple([prim.as_prim(size) for size in value]))
        case tuple():
            fields = [_as_expr(item) for item in value]
            known = tuple([field for field in fields if field is not None])
            return Tuple.make(known) if len(known) == len(fields) else None
    dtype = prim_dtype(value)
    return None if dtype is None else PrimValue.make(prim.const(prim_value(value) or 0, dtype))
