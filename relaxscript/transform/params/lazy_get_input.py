"""LazyGetInput: weights are asked for where they are first used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from relaxscript.analysis.weight_names import NUM_INPUT, PARAM_NAMES
from relaxscript.dtypes import DataType
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import const
from relaxscript.ir.relax import Attrs, Call, Expr, Function, PrimValue, StringImm, Var
from relaxscript.ir.struct_info import FuncStructInfo, ObjectStructInfo, PrimStructInfo
from relaxscript.runtime import PackedFunc
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

from .fetched_weights import with_fetched
from .private_copies import with_new_signatures
from .weight_parameters import number_of_inputs

__all__ = ["LazyGetInput"]

_CALLBACK = FuncStructInfo(
    (PrimStructInfo.make(DataType("int64")), ObjectStructInfo()), ObjectStructInfo()
)


class LazyGetInput(ModulePass):
    """Ask a callback for each parameter after the inputs, where it is first used.

    Before:

        @R.function
        def main(x: R.Tensor((4,), "float32"), w: R.Tensor((4,), "float32")):
            R.func_attr({"num_input": 1})
            y = R.exp(x)
            z = R.multiply(y, w)
            return z

    After:

        @R.function
        def main(
            x: R.Tensor((4,), "float32"),
            fget_param: R.Callable((R.Prim("int64"), R.Object), R.Object),
        ):
            R.func_attr({"num_input": 2})
            y = R.exp(x)
            w_untyped = fget_param(R.prim_value(0), R.str("w"))
            w = R.match_cast(w_untyped, R.Tensor((4,), "float32"))
            z = R.multiply(y, w)
            return z

    The callback is given the position of the weight and the name of its parameter. What nothing
    uses is not asked for. Public functions are changed; without the attribute `num_input` all of
    their parameters are weights. What the module itself calls is a private copy of the function as
    it was. Inside of a dataflow block a weight is asked for where it is used only there.

    Raises `DiagnosticError` (RX0712) for a `num_input` that is no number of parameters. Source: TVM
    `relax.transform.LazyGetInput`.
    """

    changes_signatures = True
    adds_functions = True
    trusts_checks = True

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return with_new_signatures(
            mod,
            {
                var: _asking(function, count)
                for var, function in mod.relax_functions().items()
                if (count := _inputs(function, var.name_hint)) is not None
            },
        )

    def call_as_before(
        self, before: IRModule, call: Callable[..., Any], name: str, args: Sequence[Any]
    ) -> Any:
        """Call the function with a callback that gives its weights."""
        count = _inputs(before[name], name)
        if count is not None:
            weights = args[count:]
            get = PackedFunc("fget_param", lambda index, name: weights[int(index)])
            args = [*args[:count], get]
        return call(name, *args)


def _inputs(function: Any, name: str) -> int | None:
    """The number of inputs of a function that has weights to ask for."""
    if not isinstance(function, Function) or function.is_private:
        return None
    count = number_of_inputs(function, name) or 0
    return count if count < len(function.params) else None


def _asking(function: Function, count: int) -> Function:
    weights = function.params[count:]
    callback = Var.make("fget_param", _CALLBACK)

    def ask(index: int) -> Expr:
        name = StringImm(weights[index].name_hint)
        return Call.make(
            callback, (PrimValue.make(const(index, "int64")), name), span=weights[index].span
        )

    made = with_fetched(function, function.params[:count], weights, ask)
    attrs = {**(function.attrs or Attrs()), NUM_INPUT: count + 1}
    attrs.pop(PARAM_NAMES, None)
    return made.replace(params=(*made.params, callback), attrs=Attrs(attrs))
