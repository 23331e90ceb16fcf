"""ComputePrimValue: scalar expressions over shape variables become calls of PrimFuncs."""

from __future__ import annotations

from relaxscript.builder import ExprMutator
from relaxscript.ir import prim, tir
from relaxscript.ir.intrinsic import op_named
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import Attrs, Binding, Call, Expr, ShapeExpr, Var
from relaxscript.ir.walk import compounds, free_vars, substitute
from relaxscript.op.base import compute_prim_value
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

__all__ = ["ComputePrimValue"]

HOST_FUNC = "tir.is_host_func"


class ComputePrimValue(ModulePass):
    """Compute scalars by PrimFuncs of the module, from the variables that they mention.

    Before:

        size: R.Prim(value=n * 2) = R.prim_value(n * 2)

    After:

        v: R.Prim(value=n) = R.prim_value(n)
        size: R.Prim(value=n * 2) = cls.compute_symbolic_expr(v)

        @T.prim_func(private=True)
        def compute_symbolic_expr(n: T.int64) -> T.int64:
            T.func_attr({"tir.is_host_func": True})
            return n * 2

    A number, and a variable alone, stay as they are.
    Source: TVM `relax.transform.ComputePrimValue`.
    """

    required = ("ToNonDataflow", "RemovePurityChecking")

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        functions = mod.relax_functions().items()
        computing = [(var, func) for var, func in functions if any(map(_computes, compounds(func)))]
        if not computing:
            return mod
        computer = _ScalarComputer(mod)
        made = {var: computer.function(func, var.name_hint) for var, func in computing}
        result = computer.builder.get()
        result.update(made)
        return result


class _ScalarComputer(ExprMutator):
    """Calls PrimFuncs in the place of scalar expressions; `builder` has the module with them."""

    def binding(self, binding: Binding) -> None:
        value = _computed(binding.value)
        if value is None:
            self.keep(binding)
        else:
            self.replace_value(binding, self._call(value, binding))

    def _call(self, value: prim.PrimExpr, binding: Binding) -> Call:
        """The call that computes a scalar expression; its PrimFunc is added to the module."""
        used = [v for v in free_vars(value) if isinstance(v, prim.Var)]
        callee = self.builder.add_func(_function(value, used), "compute_symbolic_expr")
        args: list[Var] = []
        for v in used:
            only = (ShapeExpr.make((v,)),)
            alone = Call.make(compute_prim_value.op, only, span=binding.value.span)
            args.append(self.emit(alone, v.name, binding.span))
        return Call.make(callee, tuple(args), span=binding.value.span)


def _computes(node: Node) -> bool:
    """True for a call that computes a scalar."""
    return node.__class__ is Call and _computed(node) is not None


def _computed(value: Expr) -> prim.PrimExpr | None:
    """The scalar expression that a call computes, None for anything else."""
    match value:
        case Call(op=compute_prim_value.op, args=(ShapeExpr((scalar,)),)):
            is_leaf = isinstance(scalar, (prim.Var, prim.IntImm, prim.FloatImm))
            return None if is_leaf else scalar
    return None


def _function(value: prim.PrimExpr, used: list[prim.Var]) -> tir.PrimFunc:
    """The PrimFunc that returns a scalar expression over its parameters."""
    params = {v: prim.Var.make(v.name, v.dtype) for v in used}
    result = prim.Call.make(value.dtype, op_named("tir.ret"), (substitute(value, params),))
    return tir.PrimFunc.make(
        tuple(params.values()), tir.Evaluate.make(result), prim.PrimType.make(value.dtype), {},
        Attrs({HOST_FUNC: True}),
    )  # fmt: skip
