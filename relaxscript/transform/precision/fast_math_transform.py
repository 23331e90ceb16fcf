"""FastMathTransform: exp, erf, tanh and softmax to fewer digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relaxscript.builder import BlockBuilder, ExprMutator
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Binding, Call, Op, remember_struct_info
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.op.nn.activation import softmax
from relaxscript.op.unary import erf, exp, tanh
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.operator import Operator
from relaxscript.opdef.tensor_expressions import te, topi
from relaxscript.transform.legalize.prim_funcs import OperatorFunctions
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

__all__ = ["FastMathTransform"]


class FastMathTransform(ModulePass):
    """Compute exp, erf, tanh and softmax of float32 and float16 to fewer digits.

    Before:

        y = R.tanh(x)

    After:

        @T.prim_func(private=True)
        def fast_tanh(A: T.Buffer(("n", 4), "float32"), T_fast_tanh: T.Buffer(("n", 4), ...)):
            ...

        y = R.call_tir(cls.fast_tanh, (x,), out_sinfo=R.Tensor((n, 4), "float32"))

    The functions are `topi.fast_exp`, `topi.fast_erf`, `topi.fast_tanh` and `topi.nn.fast_softmax`,
    which say their bounds and what they give for infinities and NaN. All are within 1e-6 of the
    number. Where the result is a denormal number it may be 0, and `exp` is infinite from 88.37 on.
    Tensors of unknown shape or dtype stay, as other dtypes do.

    Without this pass native code has these functions to the last place but one, by vectors. So it
    helps where much of the time goes into `erf` or `tanh`, of which it takes about half. Of `exp`
    and `softmax` it takes an eighth. Source: TVM `relax.transform.FastMathTransform`.
    """

    adds_functions = True
    tolerance = 1e-6

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        builder = BlockBuilder(mod)
        writer = _FastMath(mod, builder)
        changed = False
        for var, func in mod.relax_functions().items():
            made = writer.function(func, var.name_hint)
            if made is not func:
                builder.update_func(var, made)
                changed = True
        return builder.get() if changed else mod


class _FastMath(ExprMutator):
    """Writes calls of PrimFuncs in the place of those functions."""

    def __init__(self, mod: IRModule, builder: BlockBuilder) -> None:
        super().__init__(mod, builder)
        self._prim_funcs = OperatorFunctions(builder)

    def binding(self, binding: Binding) -> None:
        call = binding.value
        fast = None
        if isinstance(call, Call) and isinstance(call.op, Op):
            fast = _FAST.get(call.op.name)
        if fast is not None and isinstance(call, Call):
            made = self._legal(fast, call)
            if made is not None:
                self.replace_value(binding, made)
                return
        super().binding(binding)

    def _legal(self, fast: Operator, call: Call) -> Call | None:
        info = self.builder.struct_info(call)
        if not isinstance(info, TensorStructInfo) or info.dtype not in ("float32", "float16"):
            return None
        operand = Call.make(fast.op, call.args, call.attrs, span=call.span)
        remember_struct_info(operand, info)
        legal = self._prim_funcs.legalize(fast, operand)
        return legal if isinstance(legal, Call) else None


def _fast(name: str, exact: Operator, compute: Callable[..., Any]) -> Operator:
    """An operator for the calls of another one, which is in no module: they become PrimFuncs."""
    made = Operator(name, exact.function, parameters=exact.parameters)

    @made.infer_rule
    def _(context: InferContext, x: TensorStructInfo, **attributes: Any) -> StructInfo:
        return x

    @made.compute(ulp=8)
    def _(context: ComputeContext, x: te.Tensor, **attributes: Any) -> te.Tensor:
        elements: te.Tensor = compute(x, **attributes)
        return elements

    return made


_FAST = {
    exp.name: _fast("fast_exp", exp, lambda x: topi.fast_exp(x)),
    erf.name: _fast("fast_erf", erf, lambda x: topi.fast_erf(x)),
    tanh.name: _fast("fast_tanh", tanh, lambda x: topi.fast_tanh(x)),
    softmax.name: _fast("fast_softmax", softmax, lambda x, axis: topi.nn.fast_softmax(x, axis)),
}
