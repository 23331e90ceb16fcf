"""FuseTransposeMatmul: a product by a transposed matrix, which is read as it lies."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.builder import BlockBuilder
from relaxscript.dtypes import DataType
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Call, Expr, ShapeExpr, remember_struct_info
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.op.linear_algebra import matmul
from relaxscript.op.numeric import product_dtype
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.operator import Operator
from relaxscript.opdef.parameters import DType, Tensor
from relaxscript.opdef.tensor_expressions import te, topi
from relaxscript.transform.algebra.algebraic_rewriter import AlgebraicRewriter, rewrite_by
from relaxscript.transform.algebra.transposes import transposed_operand
from relaxscript.transform.legalize.prim_funcs import OperatorFunctions
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

__all__ = ["FuseTransposeMatmul"]


class FuseTransposeMatmul(ModulePass):
    """Multiply by a matrix whose rows and columns are exchanged without making that matrix.

    Before, in a dataflow block, where `x` is of n x 64 and `w` of 32 x 64:

        wT = R.permute_dims(w)
        y = R.matmul(x, wT)

    After:

        @T.prim_func(private=True)
        def NT_matmul(A: T.Buffer(("n", 64)), B: T.Buffer((32, 64)), C: T.Buffer(("n", 32))):
            ...                                         # C[i, j] = C[i, j] + A[i, k] * B[j, k]

        y = R.call_tir(cls.NT_matmul, (x, w), out_sinfo=R.Tensor(("n", 32), "float32"))

    The permutation exchanges the last two axes and no others. It stays where something else uses
    it, and the product reads what it permutes all the same. Sizes may be symbolic; batches and
    `out_dtype` are those of `R.matmul`. Products stay whose operands a run has to check, and those
    of tensors of unknown shape or dtype. Source: TVM `relax.transform.FuseTransposeMatmul`.
    """

    adds_functions = True
    # Loops add up in another order than the meaning of the product.
    tolerance = 1e-6

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        builder = BlockBuilder(mod)
        law = _Transposed(builder)
        changed = False
        for var, func in mod.relax_functions().items():
            made = rewrite_by(law, func, mod, builder)
            if made is not func:
                builder.update_func(var, made)
                changed = True
        return builder.get() if changed else mod


class _Transposed:
    """The law: a product by a permuted matrix is a call of the PrimFunc that reads it as it is."""

    operator = matmul.op.name
    in_block = True

    def __init__(self, builder: BlockBuilder) -> None:
        self._prim_funcs = OperatorFunctions(builder)

    def rewritten(self, at: AlgebraicRewriter, call: Call) -> Expr | None:
        """The call of a PrimFunc; raises `Unsure` for a product that a run has to check."""
        left, right = call.args
        matrix = transposed_operand(at, right)
        if matrix is None:
            return None
        product = Call.make(_nt_matmul.op, (left, matrix), call.attrs, span=call.span)
        remember_struct_info(product, at.sure_info(call))
        legal = self._prim_funcs.legalize(_nt_matmul, product)
        return legal if isinstance(legal, Call) else None


def _multiplied(x1: Tensor, x2: Tensor, out_dtype: DType | None = None) -> Any:
    return matmul(x1, np.swapaxes(x2, -1, -2), out_dtype=out_dtype)


# In no module: calls of it become calls of its PrimFunc at once.
_nt_matmul = Operator("NT_matmul", _multiplied)


@_nt_matmul.infer_rule
def _(
    context: InferContext, x1: TensorStructInfo, x2: TensorStructInfo,
    out_dtype: DataType | None = None,
) -> StructInfo:  # fmt: skip
    *batch, columns, rows = x2.dims or ()
    exchanged = TensorStructInfo(ShapeExpr.make((*batch, rows, columns)), x2.dtype, x2.vdevice)
    info: StructInfo = matmul.rules["infer"](context, x1, exchanged, out_dtype=out_dtype)
    return info


@_nt_matmul.compute(sums=2)
def _(
    context: ComputeContext, x1: te.Tensor, x2: te.Tensor, out_dtype: DataType | None = None
) -> te.Tensor:
    inner = DataType(product_dtype(context.dtype.numpy))
    product = topi.linear_algebra.matrix_product(
        context.shape, x1, x2, transpose_b=True, dtype=inner, name="NT_matmul"
    )
    return topi.linear_algebra.rounded(product, context.dtype)
