"""Calls of vector math, which is defined in `semantics/vector_math/`.

A PrimFunc with few of them has the definitions in their places: that runs faster, by a tenth. One
with more calls functions of the module, one for each intrinsic and width: it is compiled faster.
These are from vectors of `float` to vectors of `float`; narrower dtypes are `float`s in registers,
and their results are rounded by the caller.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from relaxscript.ir import prim
from relaxscript.ir.intrinsic import Intrinsic
from relaxscript.ir.stmt_functor import all_parts
from relaxscript.semantics.vector_math import define, has_definition

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


# So many calls of a width are written out at most.
FEW = 4


def emit_vector_math(cx: FunctionContext, e: prim.Call, row: Intrinsic) -> Value:
    """The value of a call of a function that is defined."""
    args = [emit(cx, arg) for arg in e.args]
    if is_written_out(cx, e.dtype.lanes):
        params, body = define(row.name, len(args), e.dtype.lanes)
        cx.values.update(zip(params, args, strict=True))
        return cx.asm.rounded(emit(cx, body), e.dtype)
    type_ = args[0].type
    symbol = declare_function(cx, e, row, type_)
    given = ", ".join(map(str, args))
    return cx.asm.rounded(cx.asm.value(type_, f"call {type_} @{symbol}({given})"), e.dtype)


def is_written_out(cx: FunctionContext, lanes: int) -> bool:
    """True if the definition is written in the place of a call of some width.

    Calls of narrower vectors than others are of elements that are left over, which cost no time.
    What is reached in another way than by its call is not counted, and never written out.
    """
    if cx.math_calls is None:
        calls = [part for part in all_parts(cx.func) if isinstance(part, prim.Call)]
        found = filter(has_definition, calls)
        cx.math_calls = Counter(call.dtype.lanes for call in found)
    widest = max(cx.math_calls, default=0)
    return cx.wraps is None and lanes == widest and cx.math_calls[lanes] <= FEW


def declare_function(cx: FunctionContext, e: prim.Call, row: Intrinsic, type_: str) -> str:
    """The symbol of a function, whose text is in the module once."""
    lanes, sites = e.dtype.lanes, cx.module.sites
    symbol = f"relaxscript.{row.script_name}.float32{f'x{lanes}' if lanes > 1 else ''}"
    if symbol not in sites.declarations:
        if symbol not in _written:
            _written[symbol] = write_function(cx, e, row, symbol, type_)
        for name, text in _written[symbol].declarations.items():
            sites.declare(name, text)
        sites.declare(symbol, _written[symbol].text)
    return symbol


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
