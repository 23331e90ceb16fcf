"""Functions whose branches are in branches, deeper than a script of Python can say."""

from __future__ import annotations

from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import BindingBlock, Call, Function, If, Op, SeqExpr, Var, VarBinding
from relaxscript.ir.struct_info import TensorStructInfo

__all__ = ["nested_branches"]


def nested_branches(depth: int) -> IRModule:
    """A module whose `main` has `depth` choices, each in a branch of the one before."""
    info = TensorStructInfo((2,), "float32")
    condition, x = Var("c", TensorStructInfo((), "bool")), Var("x", info)

    def bound(name: str, value: Call | If) -> SeqExpr:
        var = Var(name, info)
        return SeqExpr([BindingBlock([VarBinding(var, value)])], var)

    body = bound("y", Call(Op.get("relax.exp"), [x]))
    for _ in range(depth):
        body = bound("z", If(condition, body, bound("y", Call(Op.get("relax.exp"), [x]))))
    return IRModule.from_expr(Function([condition, x], body, info))
