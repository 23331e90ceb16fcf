"""Code for calls of C functions and for addresses: as `interpreter/external.py` says."""

from __future__ import annotations

from relaxscript.interpreter import failure
from relaxscript.interpreter.external import callee_of
from relaxscript.ir import prim

from .assembler import Value
from .memory import Memory
from .types import register

__all__ = ["External"]


class External(Memory):
    """Adds C functions to memory."""

    def external(self, e: prim.Call, name: str) -> Value:
        match name:
            case "address_of":
                return self.address(e)
            case "isnullptr":
                address = self.address(e.args[0])
                return self.asm.value("i1", f"icmp eq {address}, null")
        return self.c_call(e)

    def address(self, e: prim.PrimExpr) -> Value:
        """Where an element lies, or what a variable holds."""
        match e:
            case prim.Call(op="tir.address_of", args=(prim.BufferLoad() as load,)):
                failure.check_rank(load.buffer, load.indices, load.span)
                place = self.place(load.buffer, load.span)
                indices = [self.asm.extract(self.wide(i), 0) for i in load.indices]
                return self.element(load.buffer, place, indices, load.span)
            case prim.Var() if e.dtype.kind == "handle":
                owner = self.owners.get(e)
                return self.variable(e) if owner is None else owner.pointer
            case prim.Call() if e.dtype.kind == "handle" and e.op != "tir.address_of":
                return self.emit(e)
        raise failure.invalid("RX0502", "this is not the address of anything", e.span)

    def c_call(self, e: prim.Call) -> Value:
        name, _ = callee_of(e)
        asm = self.asm
        operands = [self.c_operand(arg) for arg in e.args[1:]]
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
            return self.i64(0)
        made = asm.value(result, text)
        return asm.compare("icmp ne", made, Value("i8", "0")) if e.dtype.is_bool else made

    def c_operand(self, e: prim.PrimExpr) -> Value:
        asm = self.asm
        if isinstance(e, prim.StringImm):
            raw = e.value.encode() + b"\0"
            name = f"relaxscript.text.{len(asm.sites.declarations)}"
            text = "".join(f"\\{byte:02X}" for byte in raw)
            asm.sites.declare(name, f'@{name} = private constant [{len(raw)} x i8] c"{text}"')
            return Value("ptr", f"@{name}")
        if e.dtype.kind == "handle":
            return self.address(e)
        value = self.emit(e)
        return asm.convert("zext", value, "i8") if e.dtype.is_bool else value
