"""The bindings of random programs that call: PrimFuncs, packed functions, functions, closures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.ir import prim
from relaxscript.ir.relax import Attrs, Call, Expr, ExternFunc, GlobalVar, Op, Tuple
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.tir import PrimFunc
from relaxscript.op.calls import call_dps_packed, call_pure_packed, call_tir
from relaxscript.op.create import zeros

from .known import (
    alike,
    is_computable,
    is_positive,
    literal,
    same,
    shape_of,
    tensor_info,
    tensor_of,
)
from .packed import FIRST, PAIR, TWICE, TWICE_INTO
from .prim_funcs import Dims, elementwise, reduction
from .value_steps import ValueSteps

__all__ = ["UNIT", "CallSteps"]

UNIT = TupleStructInfo(())


class CallSteps(ValueSteps):
    """Adds bindings of calls."""

    # ---- PrimFuncs

    def call_tir(self) -> bool:
        made = self.prim_func()
        if made is None:
            return False
        function, operands, result = made
        callee = self.builder.add_func(function, self.choices.pick(("tir", "compute", "x")))
        args = Tuple(tuple(operands))
        return self.emit(Call(call_tir.op, (callee, args), None, (result,)))

    def prim_func(self) -> tuple[PrimFunc, list[Expr], TensorStructInfo] | None:
        """A PrimFunc, operands for it, and what is known of its result."""
        tensors = [v for v in self.values if is_computable(v.struct_info)]
        if not tensors:
            return None
        first = self.choices.pick(tensors)
        info = tensor_info(first.struct_info)
        dims = self.buffer_dims(info.dims or ())
        # Where the reduced axis is empty nothing would be written, not even a start.
        if info.dims and is_positive(info.dims[-1]) and self.choices.chance(30):
            function, _ = reduction(self.choices, dims, info.dtype)
            return function, [first], tensor_of(info.dims[:-1], info.dtype)
        others = [v for v in tensors if same(v.struct_info, info)]
        operands = [first, *([self.choices.pick(others)] if self.choices.chance(50) else [])]
        function = elementwise(self.choices, dims, info.dtype, len(operands))
        return function, operands, tensor_of(info.dims or (), info.dtype)

    def write_into(self) -> bool:
        """A PrimFunc called directly, as a value, or by its symbol; it writes into a tensor."""
        made = self.prim_func()
        if made is None:
            return False
        function, operands, result = made
        symbol = f"kernel_{len(self.builder.get())}"
        # Any of the tensors may be another name of the one that is written into.
        function = function.replace(attrs=Attrs({"global_symbol": symbol}))
        by_name = self.builder.add_func(function, symbol)
        callee: Expr | None = by_name
        infos: tuple[StructInfo, ...] = ()
        match self.choices.integer(0, 2):
            case 1:
                callee = self.bound(by_name)
            case 2:
                callee, infos = ExternFunc(symbol), (UNIT,)
        target = self.choices.pick([*self.fitting(result), None])
        if target is None:
            target = self.bound(
                Call(
                    zeros.op,
                    (shape_of(result.dims or ()),),
                    Attrs({"dtype": result.dtype}),
                )
            )
        if callee is None or target is None:
            return False
        return self.emit(Call(callee, (*operands, target), None, infos))

    def buffer_dims(self, dims: Sequence[prim.PrimExpr]) -> Dims:
        """The dimensions of a PrimFunc's buffers: a variable of its own for what is symbolic."""
        own: dict[Any, prim.Var] = {}
        made: list[prim.PrimExpr] = []
        for dim in dims:
            if isinstance(dim, prim.IntImm):
                made.append(prim.IntImm(prim.INT64, dim.value))
            else:
                made.append(
                    own.setdefault(dim, prim.Var(self.choices.pick(self.dim_names), prim.INT64))
                )
        return tuple(made)

    # ---- functions

    def call_function(self) -> bool:
        module = self.builder.get()
        callees = [gv for gv, f in module.relax_functions().items() if f.is_pure or not self.pure]
        if not callees:
            return False
        callee: GlobalVar = self.choices.pick(callees)
        return self.call(callee, [param.struct_info for param in module[callee].params])

    def closures(self) -> list[Expr]:
        return [v for v in self.values if isinstance(v.struct_info, FuncStructInfo)]

    def call_closure(self) -> bool:
        callee = self.choices.pick(self.closures())
        info = callee.struct_info
        assert isinstance(info, FuncStructInfo)
        return self.call(callee, info.params or ())

    def call(self, callee: Expr, params: Sequence[StructInfo]) -> bool:
        for _ in range(3):
            extents: dict[prim.Var, int] = {}
            args = tuple([self.argument(param, extents) for param in params])
            if self.emit(Call(callee, args)):
                return True
        return False

    def argument(self, wanted: StructInfo, extents: dict[prim.Var, int]) -> Expr:
        """A value for a parameter: one of the same kind and rank, or a literal that fits."""
        fitting = [v for v in self.values if alike(v.struct_info, wanted)]
        if fitting and self.choices.chance(60):
            return self.choices.pick(fitting)
        return literal(wanted, extents, lambda: self.choices.integer(1, 4))

    # ---- packed functions

    def impure_packed(self) -> bool:
        return self.packed(None)

    def pure_packed(self) -> bool:
        return self.packed(call_pure_packed.op)

    def packed(self, pure: Op | None) -> bool:
        tensors = [v for v in self.values if isinstance(v.struct_info, TensorStructInfo)]
        if not tensors:
            return False
        x, y = self.choices.pick(tensors), self.choices.pick(tensors)
        anything = self.choices.pick(self.values)
        name, args, infos = self.choices.pick(
            (
                (TWICE, (x,), (x.struct_info,)),
                (FIRST, (x, y), (x.struct_info,)),
                (FIRST, (anything, y), (ObjectStructInfo(),)),
                (PAIR, (x, y), (TupleStructInfo((y.struct_info, x.struct_info)),)),
            )
        )
        callee = ExternFunc(name)
        call = Call(callee, args) if pure is None else Call(pure, (callee, *args))
        var = self.bound(call.replace(sinfo_args=infos))
        if var is not None and name == FIRST:
            self.truth[var] = self.truth.get(args[0], args[0].struct_info)
        return var is not None

    def dps_packed(self) -> bool:
        tensors = [v for v in self.values if is_computable(v.struct_info)]
        if not tensors:
            return False
        x = self.choices.pick(tensors)
        call = call_dps_packed.op
        return self.emit(Call(call, (ExternFunc(TWICE_INTO), Tuple((x,))), None, (x.struct_info,)))
