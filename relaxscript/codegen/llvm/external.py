"""Code for calls of C functions and for addresses: as `interpreter/external_calls.py` says."""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Sequence

from relaxscript.errors import VMError
from relaxscript.ir import prim
from relaxscript.semantics import tir_errors
from relaxscript.semantics.c_functions import callee_of
from relaxscript.semantics.packed_calls import PackedCall

from .context import FunctionContext
from .elements import Access, i64
from .expression import emit, emit_variable
from .ir_writer import Value
from .memory import place_of
from .types import register

__all__ = ["PackedCallback", "emit_external"]


class PackedCallback:
    """A C function by which code calls a packed function, and the error of the last call."""

    def __init__(self, packed: PackedCall) -> None:
        self.packed = packed
        self.formats = ["d" if word.dtype.is_float else "q" for word in packed.words]
        self.unsigned = [word.dtype == "uint64" for word in packed.words]
        self.bools = [word.dtype.is_bool for word in packed.words]
        self.local = threading.local()
        self.function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.run)
        self.address = ctypes.cast(self.function, ctypes.c_void_p).value or 0

    def run(self, address: int) -> None:
        """Called from code with the words: the result, 0 until the function returned, operands.

        So code sees a failure also where this has no time to catch anything: an interrupt that
        waited for code to call Python, or Python's stack being full.
        """
        try:
            count = len(self.formats)
            words = (ctypes.c_int64 * (count + 2)).from_address(address)
            raw = struct.pack(f"<{count}q", *words[2:])
            numbers = list(struct.unpack("<" + "".join(self.formats), raw))
            for i in range(count):
                if self.unsigned[i]:
                    numbers[i] %= 1 << 64
                elif self.bools[i]:
                    numbers[i] = bool(numbers[i])
            words[0] = self.packed(numbers)
            words[1] = 1
        except BaseException as error:  # Python cannot raise through code
            self.local.error = error

    def explain(self, details: Sequence[int]) -> BaseException:
        """The error that the function raised, in the thread that called it."""
        error: BaseException | None = getattr(self.local, "error", None)
        if error is not None:
            del self.local.error
            return error
        if _has_room(_ROOM):
            return KeyboardInterrupt()
        text = (
            f"`{self.packed.name}`: calls through packed functions nest deeper than Python allows"
        )
        return VMError(text, code="RX0609", span=self.packed.span)


_ROOM = 50  # frames that Python still allows where its stack was not what was lacking


def _has_room(count: int) -> bool:
    """True if that many calls may still nest in this thread."""
    try:
        return count == 0 or _has_room(count - 1)
    except RecursionError:
        return False


def emit_external(cx: FunctionContext, e: prim.Call, name: str) -> Value:
    match name:
        case "address_of":
            return emit_address(cx, e)
        case "isnullptr":
            address = emit_address(cx, e.args[0])
            return cx.asm.value("i1", f"icmp eq {address}, null")
        case "reinterpret":
            return cx.asm.value("i64", f"ptrtoint {emit_address(cx, e.args[0])} to i64")
        case "tvm_call_packed" | "tvm_call_cpacked":
            return emit_packed_call(cx, e)
    return emit_c_call(cx, e)


def emit_address(cx: FunctionContext, e: prim.PrimExpr) -> Value:
    """The address of an element, or the address that a variable holds."""
    match e:
        case prim.Call(op="tir.address_of", args=(prim.BufferLoad() as load,)):
            tir_errors.check_rank(load.buffer, load.indices, load.span)
            place = place_of(cx, load.buffer, load.span)
            access = Access(cx, load.buffer, place, load.indices, load.span)
            access.check(0)
            return access.address(0)
        case prim.Var() if e.dtype.kind == "handle":
            owner = cx.owners.get(e)
            return emit_variable(cx, e) if owner is None else owner.pointer
        case prim.Call() if e.dtype.kind == "handle" and e.op != "tir.address_of":
            return emit(cx, e)
    raise tir_errors.invalid("RX0502", "this is not the address of anything", e.span)


def emit_packed_call(cx: FunctionContext, e: prim.Call) -> Value:
    """A call of Python through ctypes: the words are in memory, the result is the first."""
    packed, asm = PackedCall(e), cx.asm
    hook = PackedCallback(packed)
    symbol = f"relaxscript.packed.{len(asm.sites.hooks)}"
    asm.sites.hooks[symbol] = hook
    asm.sites.declare(symbol, f"declare void @{symbol}(ptr)")
    slot = f"%{asm.name()}"
    asm.entry.append(f"{slot} = alloca i64, i64 {len(packed.words) + 2}")
    places = [asm.value("ptr", f"getelementptr i64, ptr {slot}, i64 {i}")
              for i in range(1, len(packed.words) + 2)]  # fmt: skip
    done = places[0]
    asm.do(f"store i64 0, {done}")
    for word, place in zip(packed.words, places[1:], strict=True):
        asm.do(f"store {emit_word(cx, word)}, {place}")
    asm.do(f"call void @{symbol}(ptr {slot})")
    status = asm.value("i64", f"load i64, {done}")
    asm.fail_if(asm.compare("icmp eq", status, asm.number("i64", 0)), hook.explain)
    return asm.convert("trunc", asm.value("i64", f"load i64, ptr {slot}"), "i32")


def emit_word(cx: FunctionContext, e: prim.PrimExpr) -> Value:
    """A scalar or an address as 64 bits."""
    asm = cx.asm
    if e.dtype.kind == "handle":
        return asm.value("i64", f"ptrtoint {emit_address(cx, e)} to i64")
    value = emit(cx, e)
    if e.dtype.is_float:
        return asm.convert("bitcast", asm.convert("fpext", value, "double"), "i64")
    return asm.to_i64(value, e.dtype)


def emit_c_call(cx: FunctionContext, e: prim.Call) -> Value:
    name, _ = callee_of(e)
    asm = cx.asm
    operands = [emit_c_operand(cx, arg) for arg in e.args[1:]]
    kinds = "".join(f".{operand.type}" for operand in operands)
    result = {"void": "void", "handle": "ptr", "bool": "i8"}.get(str(e.dtype))
    result = register(e.dtype, e.span) if result is None else result
    symbol = f"relaxscript.extern.{name}.{result}{kinds}"
    asm.sites.externs[symbol] = name
    types = ", ".join(operand.type for operand in operands)
    asm.sites.declare(symbol, f"declare {result} @{symbol}({types})")
    text = f"call {result} @{symbol}({', '.join(map(str, operands))})"
    if result == "void":
        asm.do(text)
        return i64(cx, 0)
    made = asm.value(result, text)
    return asm.compare("icmp ne", made, Value("i8", "0")) if e.dtype.is_bool else made


def emit_c_operand(cx: FunctionContext, e: prim.PrimExpr) -> Value:
    asm = cx.asm
    if isinstance(e, prim.StringImm):
        raw = e.value.encode() + b"\0"
        name = f"relaxscript.text.{len(asm.sites.declarations)}"
        text = "".join(f"\\{byte:02X}" for byte in raw)
        asm.sites.declare(name, f'@{name} = private constant [{len(raw)} x i8] c"{text}"')
        return Value("ptr", f"@{name}")
    if e.dtype.kind == "handle":
        return emit_address(cx, e)
    value = emit(cx, e)
    return asm.convert("zext", value, "i8") if e.dtype.is_bool else value
