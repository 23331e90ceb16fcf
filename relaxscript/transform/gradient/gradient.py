"""Gradient: a function that gives what another does, and the gradients by its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from relaxscript.builder import BlockBuilder
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Function, Var
from relaxscript.ir.renaming import copy_with_new_vars
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.function_names import global_var_named
from relaxscript.transform.pass_infra.passes import ModulePass

from .adjoint_function import AdjointWriter
from .differentiable import find_target, require_one_block, wanted_params

__all__ = ["Gradient"]


class Gradient(ModulePass):
    """Add the adjoint of the function `func_name`: what it gives, and the gradients of a scalar.

    Before:

        @R.function
        def main(x: R.Tensor((3, 4), "float32"), y: R.Tensor((4,), "float32")):
            with R.dataflow():
                lv = R.multiply(x, y)
                gv = R.sum(lv)
                R.output(gv)
            return gv

    After `Gradient("main")`, beside `main`:

        @R.function
        def main_adjoint(x: R.Tensor((3, 4), "float32"), y: R.Tensor((4,), "float32")):
            with R.dataflow():
                lv = R.multiply(x, y)
                gv = R.sum(lv)
                gv_adjoint = R.ones((), "float32")
                lv_adjoint = R.broadcast_to(gv_adjoint, (3, 4))
                x_adjoint = R.multiply(lv_adjoint, y)
                lv1 = R.multiply(lv_adjoint, x)
                y_adjoint = R.collapse_sum_to(lv1, (4,))
                x_adjoint_out = x_adjoint
                y_adjoint_out = y_adjoint
                R.output(gv, x_adjoint_out, y_adjoint_out)
            return gv, (x_adjoint_out, y_adjoint_out)

    `require_grads` are the parameters by which the target is differentiated, or their names; those
    of all tensors where it is None. Of integers and bools the gradient is zeros. Where the function
    returns a tuple, the target is the field `target_index` of it.

    The function has one dataflow block. Through `R.grad.no_grad` no gradient flows. Between
    `R.grad.start_checkpoint` and `R.grad.end_checkpoint` values are not kept, but computed anew
    where a gradient needs them. The gradient of a PrimFunc is what `R.call_tir_with_grad` names.

    Raises `DiagnosticError`. RX0703 is for a function that is not there, RX0101 for a parameter
    that it lacks. RX0103 is for a parameter that is given twice, and for a field that is not there.
    RX0713 is for what cannot be differentiated. Source: TVM `relax.transform.Gradient`.
    """

    adds_functions = True

    def __init__(
        self,
        func_name: str,
        require_grads: Var | str | Sequence[Var | str] | None = None,
        target_index: int = 0,
    ) -> None:
        self.func_name = func_name
        self.require_grads = require_grads
        self.target_index = target_index

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        var = global_var_named(mod, self.func_name, self.info.name, relax_only=True)
        func = mod[var]
        assert isinstance(func, Function)
        require_one_block(mod, self.func_name, func)
        places = wanted_params(self.func_name, func, self.require_grads)
        find_target(self.func_name, func, self.target_index)
        # Two functions share no variables.
        own = copy_with_new_vars(func)
        target = find_target(self.func_name, own, self.target_index)
        builder = BlockBuilder(mod)
        writer = AdjointWriter(builder, own, target, [own.params[k] for k in places])
        adjoint = writer.write(f"{self.func_name}_adjoint")
        return _with_function(mod, builder.get(), f"{self.func_name}_adjoint", adjoint)


def _with_function(before: IRModule, mod: IRModule, name: str, func: Function) -> IRModule:
    """The module with a function under a name that is free; `before` where that has it already."""
    known = {var.name_hint: function for var, function in before.functions.items()}
    for number in count():
        free = f"{name}{number or ''}"
        named = func if func.is_private else func.with_attr("global_symbol", free)
        if free not in known:
            mod[free] = named
            return mod
        if structural_equal(known[free], named):
            return before
    raise AssertionError
