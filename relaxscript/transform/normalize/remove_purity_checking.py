"""RemovePurityChecking: from here on effects may be written out."""

from __future__ import annotations

from typing import Any

from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import Attrs, Call, DataflowBlock, ExternFunc, Function, Op
from relaxscript.ir.walk import compounds, rewrite, rewrite_top_down
from relaxscript.op.base import invoke_closure, invoke_pure_closure
from relaxscript.op.calls import call_pure_packed
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass

__all__ = ["FORCE_PURE", "RemovePurityChecking"]

FORCE_PURE = "relax.force_pure"


class RemovePurityChecking(FunctionPass):
    """Mark pure functions as trusted to be pure, and write the calls out that said so themselves.

    Before:

        @R.function
        def main(x: R.Tensor((4,), "float32")) -> R.Object:
            y = R.call_pure_packed("f", x, sinfo_args=R.Object)
            return y

    After:

        @R.function
        def main(x: R.Tensor((4,), "float32")) -> R.Object:
            R.func_attr({"relax.force_pure": True})
            y = R.call_packed("f", x, sinfo_args=R.Object)
            return y

    Lowering needs it: what a pure function is made of (tensors that are allocated and written into)
    is not pure. `R.invoke_pure_closure` becomes `R.invoke_closure`. Calls inside dataflow blocks
    stay as they are, since a block must be pure; so does `R.call_inplace_packed`, which is not a
    call alone: it says where the results are. Source: TVM `relax.transform.RemovePurityChecking`.
    """

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        parts = list(compounds(func))
        guarded = {
            id(binding.value)
            for block in parts
            if isinstance(block, DataflowBlock)
            for binding in block.bindings
        }
        calls = [p for p in parts if isinstance(p, Call) and id(p) not in guarded]
        if any(_written_out(call) is not None for call in calls):
            func = rewrite_top_down(func, lambda n: None if id(n) in guarded else _written_out(n))
        inner = [p for p in parts if isinstance(p, Function)][1:]
        return (
            rewrite(func, _force_pure)
            if any(map(_is_checked, inner))
            else _force_pure(func) or func
        )


def _written_out(node: Node) -> Node | None:
    """The call that a call said to be pure, None for anything else."""
    if not isinstance(node, Call) or not isinstance(node.op, Op):
        return None
    match node:
        case Call(op=call_pure_packed.op, args=(ExternFunc() as callee, *args)):
            return node.replace(op=callee, args=tuple(args), attrs=node.attrs)
        case Call(op=invoke_pure_closure.op):
            return node.replace(op=invoke_closure.op)
    return None


def _is_checked(func: Function) -> bool:
    """True if a function has to be pure, and is not trusted to be."""
    return func.is_pure and not (func.attrs or Attrs()).get(FORCE_PURE)


def _force_pure(node: Node) -> Any:
    if isinstance(node, Function) and _is_checked(node):
        return node.with_attr(FORCE_PURE, True)
    return None
