"""The operand that all operators of random numbers have: a key."""

from __future__ import annotations

from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text, shape_fact
from relaxscript.opdef.shapes import dims_of, number, require_equal

__all__ = ["require_key"]

_UINT32 = DataType("uint32")


def require_key(context: InferContext, info: TensorStructInfo) -> None:
    """Refuse an operand `key` that is no tensor of two uint32."""
    message = "a key is a tensor of two uint32, as `R.random.key` gives it"
    dims = dims_of(info)
    if not info.dtype.is_void and info.dtype is not _UINT32:
        fact = f"has dtype {info.dtype}"
        help = "write `R.random.key(42)`, or take a row of `R.random.split(key, 2)`"
        raise OperandError("key", fact, message=message, code="RX0202", help=help)
    if (info.ndim if dims is None else len(dims)) not in (-1, 1):
        raise OperandError("key", shape_fact(info, dims), message=message)
    if dims is not None:
        error = OperandError("key", f"has {dim_text(dims[0])} words", message=message)
        text = f"`key` has {dim_text(dims[0])} words, not 2"
        require_equal(context, number(2), dims[0], error, text)
