"""Calls of vector math: functions of the module, one for each intrinsic and width that is called.

What they compute is defined in `semantics/vector_math/`. They are vectors of `float` to vectors of
`float`; narrower dtypes are `float`s in registers, and their results are rounded by the caller.
"""

from __future__ import annotations

from typing import NamedTuple

from relaxscript.ir import prim
from relaxscript.ir.intrinsic import Intrinsic
from relaxscript.semantics.vector_math import define

from .context import FunctionContext
from .expression import emit
from .ir_writer import PURE, FailureSites, FunctionWriter, Value

__all__ = ["emit_vector_math"]


class WrittenFunction(NamedTuple):
    """The text of a function, and the declarations of what it calls."""

    text: str
    declarations: dict[str, str]


# What was written before, by the symbol: it is the same in every module.
_written: dict[str, WrittenFunction] = {}


def emit_vector_math(cx: FunctionContext, e: prim.Call, row: Intrinsic) -> Value:
    """The value of a call of a function that is defined; its text is in the module once."""
    args = [emit(cx, arg) for arg in e.args]
    lanes, type_, sites = e.dtype.lanes, args[0].type, cx.module.sites
    symbol = f"relaxscript.{row.script_name}.float32{f'x{lanes}' if lanes > 1 else ''}"
    if symbol not in sites.declarations:
        if symbol not in _written:
            _written[symbol] = write_function(cx, e, row, symbol, type_)
        for name, text in _written[symbol].declarations.items():
            sites.declare(name, text)
        sites.declare(symbol, _written[symbol].text)
    given = ", ".join(map(str, args))
    return cx.asm.rounded(cx.asm.value(type_, f"call {type_} @{symbol}({given})"), e.dtype)


def write_function(
    cx: FunctionContext, e: prim.Call, row: Intrinsic, symbol: str, type_: str
) -> WrittenFunction:
    """The definition of the function as text."""
    params, body = define(row.name, len(e.args), e.dtype.lanes)
    # A context of its own: the function sees nothing of its callers.
    inner = FunctionContext(cx.module, cx.func, cx.rules)
    inner.asm = FunctionWriter(FailureSites())
    inner.values.update({p: Value(type_, f"%x{k}") for k, p in enumerate(params)})
    result = emit(inner, body)
    listed = ", ".join(f"{type_} %x{k}" for k in range(len(params)))
    header = f"define internal {type_} @{symbol}({listed}) {PURE}"
    text = inner.asm.text_of_expression(header, result)
    return WrittenFunction(text, inner.asm.sites.declarations)
