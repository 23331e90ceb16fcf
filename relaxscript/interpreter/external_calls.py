"""Functions of the C library that a PrimFunc calls, and the addresses that it gives them.

`T.call_extern("float32", "fminf", x, y)` calls a C function with scalars of C's own types, texts,
and addresses: `T.address_of(A[i])`, `A.data`, variables that hold addresses. What the function does
with an address is its own affair: nothing checks its bounds. Compiled code calls the same ones.
"""

from __future__ import annotations

import ctypes
from typing import Any

from relaxscript.ir import prim
from relaxscript.semantics import tir_errors
from relaxscript.semantics.c_functions import C_TYPES, callee_of
from relaxscript.semantics.expression import compile_expr
from relaxscript.semantics.expression_context import ExpressionContext, Frame, Run
from relaxscript.semantics.packed_calls import PackedCall
from relaxscript.semantics.scalar import wrapping

from .memory import address_in_variable, address_of_element

__all__ = ["compile_external"]


def compile_external(cx: ExpressionContext, e: prim.Call, name: str) -> Run:
    match name:
        case "address_of":
            return compile_address(cx, e)
        case "isnullptr":
            address = compile_address(cx, e.args[0])
            return lambda f: not address(f)
        case "reinterpret":
            address, fit = compile_address(cx, e.args[0]), wrapping(e.dtype)
            return lambda f: fit(address(f))
        case "tvm_call_packed" | "tvm_call_cpacked":
            return compile_packed_call(cx, e)
    return compile_c_call(cx, e)


def compile_address(cx: ExpressionContext, e: prim.PrimExpr) -> Run:
    """The address of an element, or the one that a variable holds."""
    match e:
        case prim.Call(op="tir.address_of", args=(prim.BufferLoad() as load,)):
            return address_of_element(cx, load)
        case prim.Var() if e.dtype.kind == "handle":
            return address_in_variable(cx, e, e.span)
        case prim.Call() if e.dtype.kind == "handle" and e.op != "tir.address_of":
            return compile_expr(cx, e)
    raise tir_errors.invalid("RX0502", "this is not the address of anything", e.span)


def compile_packed_call(cx: ExpressionContext, e: prim.Call) -> Run:
    packed = PackedCall(e)
    words = [
        compile_address(cx, word) if word.dtype.kind == "handle" else compile_expr(cx, word)
        for word in packed.words
    ]
    return lambda f: packed([word(f) for word in words])


def compile_c_call(cx: ExpressionContext, e: prim.Call) -> Run:
    _, address = callee_of(e)
    kinds = [C_TYPES[str(arg.dtype)] for arg in e.args[1:]]
    function = ctypes.CFUNCTYPE(C_TYPES[str(e.dtype)], *kinds)(address)
    operands = [compile_c_operand(cx, arg) for arg in e.args[1:]]
    empty = e.dtype.kind == "handle"

    def run(f: Frame) -> Any:
        result = function(*[operand(f) for operand in operands])
        return result or 0 if empty else result

    return run


def compile_c_operand(cx: ExpressionContext, e: prim.PrimExpr) -> Run:
    if isinstance(e, prim.StringImm):
        text = ctypes.create_string_buffer(e.value.encode())
        return lambda f: ctypes.addressof(text)
    return compile_address(cx, e) if e.dtype.kind == "handle" else compile_expr(cx, e)
