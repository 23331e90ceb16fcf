"""Programs of one attention for tests of those who compile it.

Source: TVM `relax.testing.attention`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.builder import BlockBuilder
from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Expr, TupleGetItem, Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.op.gradients import R

__all__ = ["get_relax_attention_module", "get_relax_stacked_attention_module"]

_LAYOUTS = ("BS3NH", "SBN3H")
_OPERATORS = ("split", "strided_slice")


def get_relax_attention_module(
    q_shape: Sequence[Any],
    k_shape: Sequence[Any],
    v_shape: Sequence[Any],
    *,
    dtype: str,
    bias_shape: Sequence[Any] | None = None,
    qk_scale: float | None = None,
    causal_mask: str | None = None,
    window_size: int | None = None,
) -> IRModule:
    """A module whose `main` is the attention of `q`, `k` and `v`, with a `bias` if it has a shape.

    Their shapes are (batch, rows, heads, depth), as `R.nn.attention` takes them.
    """
    shapes = {"q": q_shape, "k": k_shape, "v": v_shape}
    if bias_shape is not None:
        shapes["bias"] = bias_shape
    params = [_variable(name, shape, dtype) for name, shape in shapes.items()]
    options = {"causal_mask": causal_mask, "window_size": window_size}
    bb = BlockBuilder()
    with bb.function("main", params):
        with bb.dataflow():
            result = bb.emit_output(R.nn.attention(*params, scale=qk_scale, **options))
        bb.emit_func_output(result)
    return bb.finalize()


def get_relax_stacked_attention_module(
    qkv: Any,
    b: Any,
    s: Any,
    n: Any,
    h: Any,
    h_v: Any,
    op: str,
    bias: Any = None,
    qk_scale: float | None = None,
    single_shape: bool = False,
    layout: str = "BS3NH",
    causal_mask: str | None = None,
) -> IRModule:
    """A module whose `main` takes `q`, `k` and `v` out of one tensor, and gives their attention.

    `qkv` and `bias` are arrays whose shapes and dtypes those of the parameters are. There are
    `b` batches, `s` rows, `n` heads, and depths of `h` and `h_v`. The layout "BS3NH" is
    (b, s, n * (2 * h + h_v)), and "SBN3H" is (s, b, n, 2 * h + h_v). `op` says what takes it apart:
    "split" or "strided_slice". With `single_shape` the values have the shape of the queries. Raises
    `DiagnosticError` (RX0204) for another layout or operator.
    """
    for value, known in ((op, _OPERATORS), (layout, _LAYOUTS)):
        if value not in known:
            message = f"there is no stacked attention of {value!r}"
            help = f'there are "{known[0]}" and "{known[1]}"'
            raise DiagnosticError(Diagnostic("RX0204", message, caller_span(), help=help))
    params = [_variable("qkv", qkv.shape, str(qkv.dtype))]
    if bias is not None:
        params.append(_variable("bias", bias.shape, str(bias.dtype)))
    is_flat = layout == "BS3NH"
    width = n if is_flat else 1
    ends = [width * h, 2 * width * h, width * (2 * h + h_v)]
    bb = BlockBuilder()
    with bb.function("main", params):
        with bb.dataflow():
            parts = _parts(bb, params[0], ends, op, 2 if is_flat else 3)
            depths = (h, h, h if single_shape else h_v)
            operands = [
                bb.emit(R.reshape(part, (b, s, n, depth)) if is_flat else _exchanged(part))
                for part, depth in zip(parts, depths)
            ]
            made = R.nn.attention(
                *operands, *params[1:], scale=qk_scale, causal_mask=causal_mask
            )  # fmt: skip
            result = bb.emit_output(made if is_flat else _exchanged(bb.emit(made)))
        bb.emit_func_output(result)
    return bb.finalize()


def _parts(bb: BlockBuilder, whole: Var, ends: Sequence[Any], op: str, axis: int) -> list[Expr]:
    """The parts of a tensor along an axis, each up to one of `ends`."""
    if op == "split":
        split = bb.emit(R.split(whole, [ends[0], ends[1]], axis))
        return [bb.emit(TupleGetItem(split, place)) for place in range(3)]
    starts = [0, *ends[:2]]
    return [
        bb.emit(R.strided_slice(whole, [axis], [start], [end], [1]))
        for start, end in zip(starts, ends)
    ]


def _exchanged(tensor: Expr) -> Any:
    """The tensor with its first two axes exchanged."""
    return R.permute_dims(tensor, [1, 0, 2, 3])


def _variable(name: str, shape: Sequence[Any], dtype: str) -> Var:
    return Var(name, TensorStructInfo(tuple(shape), dtype))  # type: ignore[arg-type]
