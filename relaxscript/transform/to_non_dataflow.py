"""ToNonDataflow: dataflow blocks become ordinary ones."""

from __future__ import annotations

from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import BindingBlock, DataflowBlock, DataflowVar, Function, SeqExpr, Var
from relaxscript.ir.walk import Substitution, bound_vars, rewrite

from .context import PassContext
from .passes import FunctionPass

__all__ = ["ToNonDataflow"]


class ToNonDataflow(FunctionPass):
    """Turn dataflow blocks and the variables of these into ordinary ones, for passes that follow.

    Before:

        with R.dataflow():
            lv: R.Tensor((4,), "float32") = R.exp(x)
            gv: R.Tensor((4,), "float32") = R.log(lv)
            R.output(gv)

    After:

        lv: R.Tensor((4,), "float32") = R.exp(x)
        gv: R.Tensor((4,), "float32") = R.log(lv)

    Source: TVM `relax.transform.ToNonDataflow`.
    """

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        made = rewrite(func, _without_dataflow)
        ordinary = Substitution()
        for var in bound_vars(made):
            if isinstance(var, DataflowVar):
                info = var.struct_info and ordinary.apply(var.struct_info)
                ordinary[var] = Var.make(var.name_hint, info, span=var.span)
        return ordinary.apply(made)


def _without_dataflow(node: Node) -> Node | None:
    if not isinstance(node, SeqExpr) or not any(isinstance(b, DataflowBlock) for b in node.blocks):
        return None
    bindings = tuple(binding for block in node.blocks for binding in block.bindings)
    return node.replace(blocks=(BindingBlock.make(bindings, span=node.blocks[0].span),))
