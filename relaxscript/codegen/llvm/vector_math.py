"""Calls of vector math: functions of the module, one for each intrinsic and width that is called.

What they compute is defined in `semantics/vector_math/`. They are vectors of `float` to vectors of
`float`; narrower dtypes are `float`s in registers, and their results are rounded by the caller.
"""

from __future__ import annotations

from relaxscript.ir import prim
from relaxscript.ir.intrinsic import Intrinsic
from relaxscript.semantics.vector_math import define

from .context import FunctionContext
from .expression import emit
from .ir_writer import PURE, Value

__all__ = ["emit_vector_math"]


def emit_vector_math(cx: FunctionContext, e: prim.Call, row: Intrinsic) -> Value:
    """The value of a call of a function that is defined; its text is in the module once."""
    args = [emit(cx, arg) for arg in e.args]
    lanes, type_ = e.dtype.lanes, args[0].type
    symbol = f"relaxscript.{row.script_name}.float32{f'x{lanes}' if lanes > 1 else ''}"
    if symbol not in cx.module.sites.declarations:
        cx.module.sites.declare(symbol, function_text(cx, row.name, symbol, type_, e))
    given = ", ".join(map(str, args))
    return cx.asm.rounded(cx.asm.value(type_, f"call {type_} @{symbol}({given})"), e.dtype)


def function_text(cx: FunctionContext, name: str, symbol: str, type_: str, e: prim.Call) -> str:
    """The definition of the function."""
    params, body = define(name, len(e.args), e.dtype.lanes)
    # A context of its own: the function sees nothing of its callers.
    inner = FunctionContext(cx.module, cx.func, cx.rules)
    inner.values.update({p: Value(type_, f"%x{k}") for k, p in enumerate(params)})
    result = emit(inner, body)
    listed = ", ".join(f"{type_} %x{k}" for k in range(len(params)))
    header = f"define internal {type_} @{symbol}({listed}) {PURE}"
    return inner.asm.text_of_expression(header, result)
