"""Programs of one product for tests of those who compile products.

Source: TVM `relax.testing.matmul`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from relaxscript.builder import BlockBuilder
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Expr, Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.op.binary import add
from relaxscript.op.linear_algebra import matmul
from relaxscript.op.manipulate.axes import permute_dims

__all__ = ["get_relax_matmul_module"]


def get_relax_matmul_module(
    x_shape: Sequence[Any],
    y_shape: Sequence[Any],
    in_dtype: str,
    out_dtype: str | None = None,
    transposed_y: bool = False,
    bias_shape: Sequence[Any] | None = None,
    activation: Callable[[Expr], Expr] | None = None,
    residual_bin_op: Callable[[Expr, Expr], Expr] | None = None,
    residual_activation: Callable[[Expr], Expr] | None = None,
) -> IRModule:
    """A module whose `main` multiplies `x` and `y`, and does more with the product where asked to.

    With `transposed_y` the last axes of `y` are exchanged before. Then come a bias, an activation,
    and `residual_bin_op` of the result and `x`, with an activation of its own. The dtype of the
    product is `out_dtype`, that of the operands where None.
    """
    out = out_dtype or in_dtype
    x, y = (
        Var(name, TensorStructInfo(tuple(shape), in_dtype))  # type: ignore[arg-type]
        for name, shape in (("x", x_shape), ("y", y_shape))
    )
    params = [x, y]
    if bias_shape is not None:
        info = TensorStructInfo(tuple(bias_shape), out)  # type: ignore[arg-type]
        params.append(Var("bias", info))
    bb = BlockBuilder()
    with bb.function("main", params):
        with bb.dataflow():
            right: Expr = y
            if transposed_y:
                ndim = len(y_shape)
                right = bb.emit(permute_dims(y, [*range(ndim - 2), ndim - 1, ndim - 2]))
            steps: list[Callable[[Expr], Any]] = [lambda left: matmul(left, right, out)]
            if bias_shape is not None:
                steps.append(lambda value: add(value, params[2]))
            if activation is not None:
                steps.append(activation)
            if residual_bin_op is not None:
                steps.append(lambda value: residual_bin_op(value, x))
                if residual_activation is not None:
                    steps.append(residual_activation)
            result: Expr = x
            for step in steps[:-1]:
                result = bb.emit(step(result))
            result = bb.emit_output(steps[-1](result))
        bb.emit_func_output(result)
    return bb.finalize()
