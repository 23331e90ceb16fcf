"""RemoveRedundantReshape: of a chain of reshapes the last one is left, or none."""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.arith import YES, prove_equal
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Call, Expr, Function, Var
from relaxscript.op.manipulate.shapes import reshape
from relaxscript.opdef.shapes import product
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass

from .shortened_chains import ChainShortener, shortened

__all__ = ["RemoveRedundantReshape"]


class RemoveRedundantReshape(FunctionPass):
    """Remove reshapes of reshapes, and those to the shape that a tensor has.

    Before, where `x` is a tensor of shape `(2, 3, 4)`:

        with R.dataflow():
            lv = R.reshape(x, R.shape([6, 4]))
            lv1 = R.reshape(lv, R.shape([24]))
            lv2 = R.reshape(lv, R.shape([2, 3, 4]))
            gv = R.add(lv2, lv2)
            R.output(lv1, gv)

    After:

        with R.dataflow():
            lv1 = R.reshape(x, R.shape([24]))
            gv = R.add(x, x)
            R.output(lv1, gv)

    Shapes are the same, and of as many elements, where that is proved for all values of their
    variables. What leaves a dataflow block keeps its name. A reshape that nothing needs any more
    goes from dataflow blocks; outside it stays, since it may fail.

    Source: TVM `relax.transform.RemoveRedundantReshape`.
    """

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        return shortened(func, mod, reshape.op, _shorter)


def _shorter(chain: ChainShortener, call: Call) -> Expr:
    """The reshape at the end of a chain in other words: a variable, or a reshape of another one."""
    wanted = chain.dims(call)
    while wanted is not None:
        inner = chain.call_behind(call.args[0])
        if inner is None or not chain.is_visible(inner.args[0]):
            break
        known = chain.dims(inner.args[0])
        if known is None or prove_equal(product(known), product(wanted)) is not YES:
            break
        call = call.replace(args=(inner.args[0], call.args[1]))
    source = call.args[0]
    return source if _is_same(chain.dims(source), wanted) and isinstance(source, Var) else call


def _is_same(a: Sequence[PrimExpr] | None, b: Sequence[PrimExpr] | None) -> bool:
    if a is None or b is None or len(a) != len(b):
        return False
    return all(prove_equal(x, y) is YES for x, y in zip(a, b))
