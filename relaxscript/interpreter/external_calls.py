"""Functions of the C library that a PrimFunc calls, and the addresses that it gives them.

`T.call_extern("float32", "fminf", x, y)` calls a C function with scalars of C's own types, texts,
and addresses: `T.address_of(A[i])`, `A.data`, variables that hold addresses. What the function does
with an address is its own affair: nothing checks its bounds. Compiled code calls the same ones.
"""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from typing import Any

from relaxscript.errors import Span
from relaxscript.ir import prim
from relaxscript.semantics import tir_errors
from relaxscript.semantics.c_functions import C_TYPES, callee_of
from relaxscript.semantics.expression import Frame, Run
from relaxscript.semantics.packed_calls import PackedCall

from .reductions import Reductions

__all__ = ["External"]


class External(Reductions, ABC):
    """Compiles calls of C functions; whoever knows memory says where an element lies."""

    def external(self, e: prim.Call, name: str) -> Run:
        match name:
            case "address_of":
                return self.address(e)
            case "isnullptr":
                address = self.address(e.args[0])
                return lambda f: not address(f)
            case "tvm_call_packed" | "tvm_call_cpacked":
                return self.packed_call(e)
        return self.c_call(e)

    def address(self, e: prim.PrimExpr) -> Run:
        """Where an element lies, or what a variable holds."""
        match e:
            case prim.Call(op="tir.address_of", args=(prim.BufferLoad() as load,)):
                return self.element_address(load)
            case prim.Var() if e.dtype.kind == "handle":
                return self.held_address(e, e.span)
            case prim.Call() if e.dtype.kind == "handle" and e.op != "tir.address_of":
                return self.compile(e)
        raise tir_errors.invalid("RX0502", "this is not the address of anything", e.span)

    @abstractmethod
    def element_address(self, e: prim.BufferLoad) -> Run:
        """The address of an element."""

    @abstractmethod
    def held_address(self, e: prim.Var, span: Span | None) -> Run:
        """The address that a variable holds."""

    def packed_call(self, e: prim.Call) -> Run:
        packed = PackedCall(e)
        words = [
            self.address(word) if word.dtype.kind == "handle" else self.compile(word)
            for word in packed.words
        ]
        return lambda f: packed([word(f) for word in words])

    def c_call(self, e: prim.Call) -> Run:
        _, address = callee_of(e)
        kinds = [C_TYPES[str(arg.dtype)] for arg in e.args[1:]]
        function = ctypes.CFUNCTYPE(C_TYPES[str(e.dtype)], *kinds)(address)
        operands = [self.c_operand(arg) for arg in e.args[1:]]
        empty = e.dtype.kind == "handle"

        def run(f: Frame) -> Any:
            result = function(*[operand(f) for operand in operands])
            return result or 0 if empty else result

        return run

    def c_operand(self, e: prim.PrimExpr) -> Run:
        if isinstance(e, prim.StringImm):
            text = ctypes.create_string_buffer(e.value.encode())
            return lambda f: ctypes.addressof(text)
        return self.address(e) if e.dtype.kind == "handle" else self.compile(e)
